import { RoundRobin } from '@backoffice/runtime/round-robin.ts'
import type { Redaction } from '../shards/notify-due.ts'
import { shardOf } from '../shards/shard-of.ts'
import {
  ASSUMED_SLOW,
  afterIdle,
  BASE_CONCURRENCY,
  type Concurrency,
  type Ended,
  isUnproven,
  UNKNOWN,
} from './concurrency.ts'
import { EndpointQueue } from './endpoint-queue.ts'
import type { Job } from './job.ts'
import { type AttemptKind, mayBurst, mayStart, REPEAT_SLOTS, repeatSlotsAfter } from './limits.ts'
import { Load } from './load.ts'
import { RateLimit } from './rate-limit.ts'

/** The load of a workspace that nothing is held for. */
const NONE = new Load()
/**
 * So many endpoints are remembered while nothing is held for them. Beyond it the oldest are forgotten, those last whose
 * Retry-After is not over.
 */
const REMEMBERED = 20_000

/** What is known of an endpoint. */
interface Known {
  readonly concurrency: Concurrency
  /** Undefined until something was held for it. */
  readonly workspaceId?: string
  readonly rate?: RateLimit
}

/** The kind that is asked for first, in turn for each job, so that no kind starves. */
const PREFERRED: readonly AttemptKind[] = ['first', 'unknown', 'first', 'slow', 'first', 'unknown', 'first', 'repeat']
const KINDS: readonly AttemptKind[] = ['first', 'unknown', 'slow', 'repeat']

/**
 * The jobs this process holds, a queue per endpoint. Workspaces take turns and so do their endpoints, within limits
 * that leave room for others, so that one which hangs, or has much to get, delays no other (spec: Retries; OP-74).
 */
export class EndpointQueues {
  readonly all = new Load()
  readonly #queues = new Map<string, EndpointQueue>()
  readonly #workspaces = new Map<string, Load>()
  /** The queues that may have a job to start, by workspace. */
  readonly #turns: Readonly<Record<AttemptKind, RoundRobin<EndpointQueue>>> = {
    first: new RoundRobin(),
    unknown: new RoundRobin(),
    slow: new RoundRobin(),
    repeat: new RoundRobin(),
  }
  /** Endpoints without a queue; the one whose queue ended longest ago comes first. */
  readonly #known = new Map<string, Known>()
  readonly #jobs = new Map<string, Job>()
  /** By shard: since when it is this process's (`performance.now()`). */
  readonly #takenAt = new Map<number, number>()
  /** The queues that may start nothing before a time, because of their rates. */
  readonly #rateLimited = new Set<EndpointQueue>()
  #repeatSlots: number = REPEAT_SLOTS.least
  #started = 0
  /** When `noteStall` was last called, about every 250 ms: near enough to the present time for Retry-After. */
  #tidiedAt = 0

  /** An endpoint's queue while something is held for it. */
  get(endpointId: string): EndpointQueue | undefined {
    return this.#queues.get(endpointId)
  }

  /** The load of a workspace; undefined when it has none. */
  loadOf(workspaceId: string): Load | undefined {
    return this.#workspaces.get(workspaceId)
  }

  holds(deliveryId: string): boolean {
    return this.#jobs.has(deliveryId)
  }

  /** Whether it holds this very job. Once its shard was dropped it does not, even if the delivery was added again. */
  has(job: Job): boolean {
    return this.#jobs.get(job.deliveryId) === job
  }

  /** The endpoints that deliveries of some events are held for. */
  endpointsOf({ workspaceId, eventIds }: Redaction): ReadonlySet<string> {
    const events = new Set(eventIds)
    const jobs = [...this.#jobs.values()].filter(({ eventId, target }) => {
      return events.has(eventId) && target.workspaceId === workspaceId
    })
    return new Set(jobs.map(({ target }) => target.id))
  }

  concurrencyOf(endpointId: string): Concurrency {
    return this.knownOf(endpointId)?.concurrency ?? UNKNOWN
  }

  /** What is known of an endpoint that something was held for. */
  knownOf(endpointId: string): Known | undefined {
    return this.#queues.get(endpointId) ?? this.#known.get(endpointId)
  }

  /**
   * The milliseconds since an endpoint itself kept deliveries waiting: it was paused, asked for that, had a request in
   * its way by its limit, or as many attempts in flight as it may have.
   */
  sinceKept(endpointId: string, now: number): number {
    return now - (this.knownOf(endpointId)?.rate?.keptUntil ?? Number.NEGATIVE_INFINITY)
  }

  /** An endpoint was paused until now. */
  noteResumed(endpointId: string, now: number): void {
    const rate = this.#rateOf(endpointId)
    rate.noteKept(now)
    if (!this.#queues.has(endpointId))
      this.#remember(endpointId, { concurrency: UNKNOWN, ...this.#known.get(endpointId), rate })
  }

  /** Remembers the workspace of an endpoint that nothing is held for. */
  noteWorkspace({ id, workspaceId }: Job['target']): void {
    if (!this.#queues.has(id)) this.#remember(id, { concurrency: UNKNOWN, ...this.#known.get(id), workspaceId })
  }

  /** Counts an unknown endpoint with waiting deliveries as slow: perhaps it does not answer. */
  assumeSlow(endpointId: string): void {
    if (this.knownOf(endpointId) === undefined) this.#remember(endpointId, { concurrency: ASSUMED_SLOW })
  }

  /** The endpoints of a shard are this process's from now on. */
  noteTaken(shard: number, now: number): void {
    this.#takenAt.set(shard, now)
  }

  /** Adds a job. The caller has reserved room. `now` is `performance.now()`, here and below. */
  add(job: Job, now: number): void {
    const queue = this.#queues.get(job.target.id) ?? this.#open(job, now)
    queue.rate.perSecond = job.target.requestsPerSecond
    this.#hold(job, queue)
    this.#change(queue, () => queue.add(job))
  }

  /** Adds a job that is in flight already, from elsewhere: it counts, and those with the same key wait for it. */
  addInFlight(job: Job, now: number): void {
    const queue = this.#queues.get(job.target.id) ?? this.#open(job, now)
    this.#hold(job, queue)
    this.#change(queue, () => queue.addInFlight(job, now))
  }

  /** The job whose turn it is, now in flight; undefined when none may start. */
  start(now: number): Job | undefined {
    const preferred = PREFERRED[this.#started % PREFERRED.length] ?? 'first'
    let job = this.#startFrom(preferred, now)
    for (const kind of KINDS) job ??= this.#startFrom(kind, now)
    if (job !== undefined) this.#started++
    return job
  }

  /** A job in flight is sent now, to its endpoint as it is now. */
  noteSent(job: Job, { requestsPerSecond }: Pick<Job['target'], 'requestsPerSecond'>, now: number): void {
    const rate = this.#queueOf(job)?.rate
    if (rate === undefined) return
    rate.perSecond = requestsPerSecond
    rate.noteSent(job, now)
  }

  /** Ends a job in flight, so that its endpoint can start another. The job stays held until `forget`. */
  end(job: Job, now: number, ended?: Ended): void {
    const queue = this.#queueOf(job)
    if (queue !== undefined) this.#change(queue, () => queue.end(job, now, ended))
  }

  /** Removes a job that has ended. */
  forget(job: Job): void {
    const queue = this.#queueOf(job)
    if (queue === undefined) return
    this.#release(job, queue)
    this.#change(queue, () => queue.forget(job))
  }

  /** Ends a job without an attempt. What waits for it may start. */
  endUnmade(job: Job, now: number): void {
    this.end(job, now)
    this.forget(job)
  }

  /** Slows down the endpoints that have attempts in flight and ended none for a second; notes which are full. */
  noteStall(now: number): void {
    this.#tidiedAt = now
    for (const queue of this.#queues.values()) if (queue.inFlight > 0) this.#change(queue, () => queue.noteStall(now))
  }

  /** Adapts the slots for repeats to the duration of a write of `attempts`, `ms` milliseconds. */
  noteWrite(ms: number, attempts: number): void {
    this.#repeatSlots = repeatSlotsAfter(this.#repeatSlots, ms, attempts)
  }

  /** Removes and returns the waiting jobs that `of` removes from each queue. */
  withdraw(of: (queue: EndpointQueue) => Job[], queues: Iterable<EndpointQueue> = this.#queues.values()): Job[] {
    const withdrawn: Job[] = []
    // A copy, since `#change` removes a queue without jobs.
    for (const queue of [...queues]) {
      if (queue.waiting === 0) continue
      const own = this.#change(queue, () => {
        const removed = of(queue)
        for (const job of removed) this.#release(job, queue)
        return removed
      })
      withdrawn.push(...own)
    }
    return withdrawn
  }

  /** Removes the waiting jobs of an endpoint. */
  withdrawAllOf(endpointId: string): void {
    const queue = this.#queues.get(endpointId)
    if (queue !== undefined) this.withdraw((each) => each.trim(0), [queue])
  }

  /** Forgets all queues of some shards, which are another process's from now on; returns their jobs in flight. */
  drop(shards: ReadonlySet<number>): Job[] {
    const dropped = [...this.#queues.values()].filter(({ endpointId }) => shards.has(shardOf(endpointId)))
    this.withdraw((queue) => queue.trim(0), dropped)
    const busy = dropped.flatMap(({ jobs }) => [...jobs])
    for (const queue of dropped) {
      if (queue.held === 0) continue
      for (const job of queue.jobs) this.#release(job, queue)
      this.#count(queue, -1)
      this.#close(queue)
    }
    for (const id of this.#known.keys()) if (shards.has(shardOf(id))) this.#known.delete(id)
    return busy
  }

  /** The earliest time at which a queue may start again that could not because of its rate: `now` if one may. */
  nextAt(now: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const queue of this.#rateLimited) {
      const at = Math.max(now, queue.rate.nextAt(now))
      next = Math.min(next, at)
      if (at > now) continue
      this.#rateLimited.delete(queue)
      this.#schedule(queue)
    }
    return next
  }

  #startFrom(kind: AttemptKind, now: number): Job | undefined {
    if (!mayStart(kind, NONE, this.all, this.#repeatSlots)) return undefined
    const turns = this.#turns[kind]
    for (const [workspaceId] of turns) {
      if (!mayStart(kind, this.#loadOf(workspaceId), this.all, this.#repeatSlots)) continue
      for (const queue of turns.of(workspaceId)) {
        turns.serve(workspaceId, queue)
        const job = this.#startIn(queue, kind, now)
        // A queue without one waits for its next change.
        if (job === undefined) continue
        turns.add(workspaceId, queue)
        return job
      }
    }
    return undefined
  }

  #startIn(queue: EndpointQueue, kind: AttemptKind, now: number): Job | undefined {
    if (!this.#hasSlot(queue) || this.#isRateLimited(queue, now)) return undefined
    this.#count(queue, -1)
    const job = kind === 'first' ? queue.startFirst(now) : kind === 'repeat' ? queue.startRepeat(now) : queue.start(now)
    this.#count(queue, 1)
    return job
  }

  #open(job: Job, now: number): EndpointQueue {
    const { id, workspaceId } = job.target
    const queue = new EndpointQueue(id, workspaceId, afterIdle(this.concurrencyOf(id), now), this.#rateOf(id))
    this.#known.delete(id)
    this.#queues.set(id, queue)
    this.#workspaces.set(workspaceId, this.#loadOf(workspaceId))
    return queue
  }

  /** Applies a change to a queue, updates the loads, and lets the queue wait for its turn or closes it. */
  #change<Result>(queue: EndpointQueue, change: () => Result): Result {
    const { responsiveness } = queue.concurrency
    this.#count(queue, -1)
    const result = change()
    this.#count(queue, 1)
    if (queue.concurrency.responsiveness !== responsiveness) {
      for (const kind of KINDS) this.#turns[kind].remove(queue.workspaceId, queue)
      const unproven = Number(isUnproven(queue.concurrency)) - Number(isUnproven({ responsiveness }))
      if (unproven !== 0) for (const { body } of queue.jobs) this.#countBody(queue, body, 0, unproven)
    }
    if (queue.held === 0) this.#close(queue)
    else this.#schedule(queue)
    return result
  }

  #schedule(queue: EndpointQueue): void {
    const { responsiveness } = queue.concurrency
    if (!this.#hasSlot(queue)) return
    if (responsiveness !== 'quick') {
      if (queue.waiting > 0) this.#turns[responsiveness].add(queue.workspaceId, queue)
      return
    }
    if (queue.hasFirst) this.#turns.first.add(queue.workspaceId, queue)
    if (queue.hasRepeat) this.#turns.repeat.add(queue.workspaceId, queue)
  }

  /** Whether a queue may start one more attempt. Otherwise the end of one of its attempts schedules it again. */
  #hasSlot({ workspaceId, inFlight, concurrency, burst }: EndpointQueue): boolean {
    if (inFlight >= concurrency.limit) return false
    return inFlight < BASE_CONCURRENCY || mayBurst(burst, this.#loadOf(workspaceId), this.all)
  }

  /** Whether the rate of a queue allows no attempt now. `nextAt` schedules it again. */
  #isRateLimited(queue: EndpointQueue, now: number): boolean {
    if (queue.rate.nextAt(now) <= now) return false
    this.#rateLimited.add(queue)
    queue.rate.noteKept(now)
    return true
  }

  #rateOf(endpointId: string): RateLimit {
    const since = this.#takenAt.get(shardOf(endpointId)) ?? Number.NEGATIVE_INFINITY
    return this.knownOf(endpointId)?.rate ?? new RateLimit(since)
  }

  #close(queue: EndpointQueue): void {
    for (const kind of KINDS) this.#turns[kind].remove(queue.workspaceId, queue)
    // Every queue holds something until it is closed.
    if (this.#loadOf(queue.workspaceId).held === 0) this.#workspaces.delete(queue.workspaceId)
    this.#queues.delete(queue.endpointId)
    this.#rateLimited.delete(queue)
    const { concurrency, workspaceId, rate } = queue
    this.#remember(queue.endpointId, { concurrency, workspaceId, rate })
  }

  /** The queue that holds a job; undefined when it was dropped meanwhile. */
  #queueOf(job: Job): EndpointQueue | undefined {
    return this.has(job) ? this.#queues.get(job.target.id) : undefined
  }

  #remember(endpointId: string, known: Known): void {
    this.#known.set(endpointId, known)
    if (this.#known.size <= REMEMBERED) return
    // Those whose Retry-After is not over are kept, as the newest.
    let left = this.#known.size
    for (const [longestAgo, its] of this.#known) {
      this.#known.delete(longestAgo)
      if (--left === 0 || !its.rate?.isHeld(this.#tidiedAt)) return
      this.#known.set(longestAgo, its)
    }
  }

  #hold(job: Job, queue: EndpointQueue): void {
    this.#jobs.set(job.deliveryId, job)
    this.#countBody(queue, job.body, 1, Number(isUnproven(queue.concurrency)))
  }

  #release(job: Job, queue: EndpointQueue): void {
    this.#jobs.delete(job.deliveryId)
    this.#countBody(queue, job.body, -1, -Number(isUnproven(queue.concurrency)))
  }

  #countBody({ workspaceId }: EndpointQueue, body: Buffer, jobs: number, unproven: number): void {
    this.#loadOf(workspaceId).countBody(body, jobs, unproven)
    this.all.countBody(body, jobs, unproven)
  }

  #count(queue: EndpointQueue, sign: 1 | -1): void {
    this.#loadOf(queue.workspaceId).count(queue, sign)
    this.all.count(queue, sign)
  }

  #loadOf(workspaceId: string): Load {
    return this.#workspaces.get(workspaceId) ?? new Load()
  }
}
