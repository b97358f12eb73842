import type { EndpointQueue } from './endpoint-queue.ts'
import type { Job } from './job.ts'

/** Queues that may have a job to start: workspaces take turns, and within a workspace its endpoints do. */
export class RoundRobin {
  readonly #workspaces = new Map<string, Set<EndpointQueue>>()

  /** Puts a queue at the end of its workspace's turns unless it waits already. */
  add(queue: EndpointQueue): void {
    const queues = this.#workspaces.get(queue.workspaceId)
    if (queues === undefined) this.#workspaces.set(queue.workspaceId, new Set([queue]))
    else queues.add(queue)
  }

  remove(queue: EndpointQueue): void {
    const queues = this.#workspaces.get(queue.workspaceId)
    if (queues?.delete(queue) && queues.size === 0) this.#workspaces.delete(queue.workspaceId)
  }

  /**
   * The next job of a workspace that may start one. Removes a queue when `start` gets no job from it: the next change
   * of the queue adds it again.
   */
  next(mayStart: (workspaceId: string) => boolean, start: (queue: EndpointQueue) => Job | undefined): Job | undefined {
    for (const [workspaceId, queues] of this.#workspaces) {
      if (!mayStart(workspaceId)) continue
      this.#workspaces.delete(workspaceId)
      const job = nextOf(queues, start)
      if (queues.size > 0) this.#workspaces.set(workspaceId, queues)
      if (job !== undefined) return job
    }
    return undefined
  }
}

function nextOf(queues: Set<EndpointQueue>, start: (queue: EndpointQueue) => Job | undefined): Job | undefined {
  for (const queue of queues) {
    queues.delete(queue)
    const job = start(queue)
    if (job === undefined) continue
    queues.add(queue)
    return job
  }
  return undefined
}
