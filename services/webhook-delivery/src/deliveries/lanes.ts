import type { Job } from './job.ts'
import { Lane } from './lane.ts'
import { isOpen, LATER_SLOTS, laterSlotsAfter, mayHaveExtra, mayStart, type Queue } from './limits.ts'
import { Load } from './load.ts'
import { type Ended, FEW, type Pace, paceRecalled, SUSPECT, UNKNOWN } from './pace.ts'
import { Turns } from './turns.ts'

/** Endpoints that are remembered while nothing is held for them. */
const REMEMBERED = 20_000

/** What is known of an endpoint. */
interface Known {
  readonly pace: Pace
  /** Undefined until something was held for it. */
  readonly workspaceId: string | undefined
}

/** The queue that is asked first, in turn for each job, so that no queue starves. */
const PREFERRED: readonly Queue[] = ['first', 'unknown', 'first', 'slow', 'first', 'unknown', 'first', 'later']
const QUEUES: readonly Queue[] = ['first', 'unknown', 'slow', 'later']

/**
 * The jobs this process holds, a lane per endpoint. Workspaces take turns and so do their endpoints, within limits that leave
 * room for others, so that one which hangs, or has much to get, delays no other (spec: Retries; OP-74).
 */
export class Lanes {
  readonly all = new Load()
  readonly #lanes = new Map<string, Lane>()
  readonly #workspaces = new Map<string, Load>()
  readonly #turns: Readonly<Record<Queue, Turns>> = {
    first: new Turns(),
    unknown: new Turns(),
    slow: new Turns(),
    later: new Turns(),
  }
  /** Endpoints without a lane; the one whose lane ended longest ago comes first. */
  readonly #known = new Map<string, Known>()
  /** Deliveries held. */
  readonly #ids = new Set<string>()
  #laterSlots: number = LATER_SLOTS.least
  #started = 0

  /** An endpoint's lane while something is held for it. */
  get(endpointId: string): Lane | undefined {
    return this.#lanes.get(endpointId)
  }

  /** The lanes of all endpoints that something is held for. */
  [Symbol.iterator](): Iterator<Lane> {
    return this.#lanes.values()
  }

  /** The load of a workspace; undefined when it has none. */
  loadOf(workspaceId: string): Load | undefined {
    return this.#workspaces.get(workspaceId)
  }

  holds(deliveryId: string): boolean {
    return this.#ids.has(deliveryId)
  }

  paceOf(endpointId: string): Pace {
    return this.#knownOf(endpointId)?.pace ?? UNKNOWN
  }

  /** Undefined as long as nothing was held for the endpoint. */
  workspaceOf(endpointId: string): string | undefined {
    return this.#knownOf(endpointId)?.workspaceId
  }

  /** Counts an unknown endpoint with waiting deliveries as slow: perhaps it does not answer. */
  suspect(endpointId: string): void {
    if (this.#knownOf(endpointId) === undefined) this.#remember(endpointId, { pace: SUSPECT, workspaceId: undefined })
  }

  /** Adds a job. The caller has reserved room. `now` is `performance.now()`, here and below. */
  add(job: Job, now: number): void {
    const lane = this.#lanes.get(job.target.id) ?? this.#open(job, now)
    this.#ids.add(job.deliveryId)
    this.#change(lane, () => lane.add(job))
  }

  /** The job whose turn it is, now in flight; undefined when none may start. */
  start(now: number): Job | undefined {
    const preferred = PREFERRED[this.#started % PREFERRED.length] ?? 'first'
    let job = this.#startFrom(preferred, now)
    for (const queue of QUEUES) job ??= this.#startFrom(queue, now)
    if (job !== undefined) this.#started++
    return job
  }

  /** Ends a job in flight, so that its endpoint can start another. The job stays held until `forget`. */
  end(job: Job, now: number, ended?: Ended): void {
    const lane = this.#lanes.get(job.target.id)
    if (lane !== undefined) this.#change(lane, () => lane.end(job, now, ended))
  }

  /** Removes a job that has ended. */
  forget(job: Job): void {
    this.#ids.delete(job.deliveryId)
    const lane = this.#lanes.get(job.target.id)
    if (lane !== undefined) this.#change(lane, () => lane.forget(job))
  }

  /** Slows down the endpoints that have attempts in flight and ended none for a second. */
  noteSilence(now: number): void {
    for (const lane of this.#lanes.values()) if (lane.inFlight > 0) this.#change(lane, () => lane.noteSilence(now))
  }

  /** Adapts the slots for retries to the duration of a write of `attempts`, `ms` milliseconds. */
  noteWrite(ms: number, attempts: number): void {
    this.#laterSlots = laterSlotsAfter(this.#laterSlots, ms, attempts)
  }

  /** Removes and returns the waiting jobs that `of` removes from each lane. */
  withdraw(of: (lane: Lane) => Job[], lanes: Iterable<Lane> = this.#lanes.values()): Job[] {
    const withdrawn: Job[] = []
    // A copy, since `#change` removes a lane without jobs.
    for (const lane of [...lanes]) if (lane.waiting > 0) withdrawn.push(...this.#change(lane, () => of(lane)))
    for (const { deliveryId } of withdrawn) this.#ids.delete(deliveryId)
    return withdrawn
  }

  #startFrom(queue: Queue, now: number): Job | undefined {
    if (!isOpen(queue, this.all, this.#laterSlots)) return undefined
    return this.#turns[queue].next(
      (workspaceId) => mayStart(queue, this.#loadOf(workspaceId), this.all, this.#laterSlots),
      (lane) => {
        if (!this.#hasSlot(lane)) return undefined
        this.#count(lane, -1)
        const job =
          queue === 'first' ? lane.startFirst(now) : queue === 'later' ? lane.startLater(now) : lane.start(now)
        this.#count(lane, 1)
        return job
      },
    )
  }

  #open(job: Job, now: number): Lane {
    const { id, workspaceId } = job.target
    const lane = new Lane(id, workspaceId, paceRecalled(this.paceOf(id), now))
    this.#known.delete(id)
    this.#lanes.set(id, lane)
    const load = this.#loadOf(workspaceId)
    this.#workspaces.set(workspaceId, load)
    load.lanes++
    return lane
  }

  /** Applies a change to a lane, updates the loads, and queues the lane for its turn or closes it. */
  #change<Result>(lane: Lane, change: () => Result): Result {
    const { standing } = lane.pace
    this.#count(lane, -1)
    const result = change()
    this.#count(lane, 1)
    if (lane.pace.standing !== standing) for (const queue of QUEUES) this.#turns[queue].remove(lane)
    if (lane.held === 0) this.#close(lane)
    else this.#queue(lane)
    return result
  }

  #queue(lane: Lane): void {
    const { standing } = lane.pace
    if (!this.#hasSlot(lane)) return
    if (standing !== 'quick') {
      if (lane.waiting > 0) this.#turns[standing].add(lane)
      return
    }
    if (lane.hasFirst) this.#turns.first.add(lane)
    if (lane.hasLater) this.#turns.later.add(lane)
  }

  /** Whether a lane may start one more attempt. Otherwise the end of one of its attempts queues it again. */
  #hasSlot({ inFlight, pace, extra }: Lane): boolean {
    return inFlight < pace.width && (inFlight < FEW || mayHaveExtra(extra, this.all))
  }

  #close(lane: Lane): void {
    for (const queue of QUEUES) this.#turns[queue].remove(lane)
    const load = this.#loadOf(lane.workspaceId)
    load.lanes--
    if (load.lanes === 0) this.#workspaces.delete(lane.workspaceId)
    this.#lanes.delete(lane.endpointId)
    this.#remember(lane.endpointId, { pace: lane.pace, workspaceId: lane.workspaceId })
  }

  #knownOf(endpointId: string): Known | undefined {
    return this.#lanes.get(endpointId) ?? this.#known.get(endpointId)
  }

  #remember(endpointId: string, known: Known): void {
    this.#known.set(endpointId, known)
    if (this.#known.size <= REMEMBERED) return
    for (const longestAgo of this.#known.keys()) return void this.#known.delete(longestAgo)
  }

  #count(lane: Lane, sign: 1 | -1): void {
    this.#loadOf(lane.workspaceId).count(lane, sign)
    this.all.count(lane, sign)
  }

  #loadOf(workspaceId: string): Load {
    return this.#workspaces.get(workspaceId) ?? new Load()
  }
}
