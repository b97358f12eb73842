import type { Job } from './job.ts'
import { Lane } from './lane.ts'

/** Jobs held in memory at most, all endpoints together. */
export const CAPACITY = 10_000
/** Bytes of bodies held at most; a body shared by several jobs counts for each. */
const CAPACITY_BYTES = 64 * 1024 * 1024
/** The part of the room left that one endpoint may fill: however many endpoints hang, there is room for another. */
const SHARE = 1 / 8

/**
 * The jobs this process holds, a lane per endpoint. Endpoints take turns, each with a limited number of attempts in
 * flight, so that one which hangs, or has much to get, delays no other (spec: Retries; OP-74).
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  /** Lanes that may have a job to start, in the order of their turns. */
  readonly #turns = new Set<Lane>()
  #held = 0
  #bytes = 0

  /** Jobs held for an endpoint. */
  heldFor(endpointId: string): number {
    return this.#lanes.get(endpointId)?.held ?? 0
  }

  /** Whether more jobs for an endpoint would only wait. */
  isStuck(endpointId: string): boolean {
    return this.#lanes.get(endpointId)?.isStuck ?? false
  }

  /** How many more jobs an endpoint may have held when `taken` places of all are about to be filled. */
  roomFor(endpointId: string, taken = 0): number {
    return Math.max(0, Math.floor((CAPACITY - this.#held - taken) * SHARE) - this.heldFor(endpointId))
  }

  get roomInBytes(): number {
    return CAPACITY_BYTES - this.#bytes
  }

  /** Takes in a job. Whoever adds has asked for room. */
  add(job: Job): void {
    const lane = this.#lanes.get(job.target.id) ?? new Lane()
    this.#lanes.set(job.target.id, lane)
    this.#held++
    this.#bytes += job.body.length
    lane.add(job)
    this.#turns.add(lane)
  }

  /** The job whose turn it is, now in flight; undefined when none may start. */
  start(): Job | undefined {
    for (const lane of this.#turns) {
      this.#turns.delete(lane)
      const job = lane.start()
      if (job === undefined) continue
      this.#turns.add(lane)
      return job
    }
    return undefined
  }

  /** An attempt is over: the endpoint may have another one. The job stays held until it is forgotten. */
  end(job: Job): void {
    const lane = this.#lanes.get(job.target.id)
    if (lane === undefined) return
    lane.end(job)
    this.#turns.add(lane)
  }

  /** Lets go of a job that is over or given back. */
  forget(job: Job): void {
    const lane = this.#lanes.get(job.target.id)
    if (lane === undefined) return
    this.#held--
    this.#bytes -= job.body.length
    lane.held--
    if (lane.held > 0) return
    this.#lanes.delete(job.target.id)
    this.#turns.delete(lane)
  }

  /** Takes out the jobs not yet started that `isWanted` names, and forgets them. */
  withdraw(isWanted: (job: Job) => boolean): Job[] {
    const withdrawn = [...this.#lanes.values()].flatMap((lane) => lane.withdraw(isWanted))
    for (const job of withdrawn) this.forget(job)
    return withdrawn
  }
}
