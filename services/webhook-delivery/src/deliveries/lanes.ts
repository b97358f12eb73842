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

/** Which turns come first, one job after the other: nothing that is open waits for ever. */
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

  /** What a workspace has in hand; undefined when nothing. */
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

  /** Deliveries wait for an endpoint that nothing is known of: it may well be one that does not answer. */
  suspect(endpointId: string): void {
    if (this.#knownOf(endpointId) === undefined) this.#remember(endpointId, { pace: SUSPECT, workspaceId: undefined })
  }

  /** Takes in a job. Whoever adds has asked for room. `now` is `performance.now()`, here and below. */
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

  /** An attempt is over: the endpoint may have another one. The job stays held until it is forgotten. */
  end(job: Job, now: number, ended?: Ended): void {
    const lane = this.#lanes.get(job.target.id)
    if (lane !== undefined) this.#change(lane, () => lane.end(job, now, ended))
  }

  /** Lets go of a job that started and is over. */
  forget(job: Job): void {
    this.#ids.delete(job.deliveryId)
    const lane = this.#lanes.get(job.target.id)
    if (lane !== undefined) this.#change(lane, () => lane.forget(job))
  }

  /** Slows down the endpoints that have attempts in flight and ended none for a second. */
  noteSilence(now: number): void {
    for (const lane of this.#lanes.values()) if (lane.inFlight > 0) this.#change(lane, () => lane.noteSilence(now))
  }

  /** So many attempts were written, which took so many milliseconds: retries make way when that was long. */
  noteWrite(ms: number, attempts: number): void {
    this.#laterSlots = laterSlotsAfter(this.#laterSlots, ms, attempts)
  }

  /** Takes out jobs not yet started, those that `of` takes out of each lane. */
  withdraw(of: (lane: Lane) => Job[], lanes: Iterable<Lane> = this.#lanes.values()): Job[] {
    const withdrawn: Job[] = []
    // A lane without a job left is taken out of the lanes meanwhile.
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

  /** Changes what a lane holds or has in flight, which may let it start another job or be its end. */
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

  /** A lane without one is asked again when one of its own attempts ends: it has some in flight. */
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
