import type { Job } from './job.ts'
import type { Lane } from './lane.ts'

/** Lanes that may have a job to start: workspaces take turns, and within a workspace its endpoints do. */
export class Turns {
  readonly #workspaces = new Map<string, Set<Lane>>()

  /** Puts a lane at the end of its workspace's turns unless it waits already. */
  add(lane: Lane): void {
    const lanes = this.#workspaces.get(lane.workspaceId)
    if (lanes === undefined) this.#workspaces.set(lane.workspaceId, new Set([lane]))
    else lanes.add(lane)
  }

  remove(lane: Lane): void {
    const lanes = this.#workspaces.get(lane.workspaceId)
    if (lanes?.delete(lane) && lanes.size === 0) this.#workspaces.delete(lane.workspaceId)
  }

  /**
   * The next job of a workspace that may start one. Removes a lane when `start` gets no job from it: the next change of the lane
   * adds it again.
   */
  next(mayStart: (workspaceId: string) => boolean, start: (lane: Lane) => Job | undefined): Job | undefined {
    for (const [workspaceId, lanes] of this.#workspaces) {
      if (!mayStart(workspaceId)) continue
      this.#workspaces.delete(workspaceId)
      const job = nextOf(lanes, start)
      if (lanes.size > 0) this.#workspaces.set(workspaceId, lanes)
      if (job !== undefined) return job
    }
    return undefined
  }
}

function nextOf(lanes: Set<Lane>, start: (lane: Lane) => Job | undefined): Job | undefined {
  for (const lane of lanes) {
    lanes.delete(lane)
    const job = start(lane)
    if (job === undefined) continue
    lanes.add(lane)
    return job
  }
  return undefined
}
