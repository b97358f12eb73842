import {
  afterAttempt,
  afterStall,
  BASE_CONCURRENCY,
  type Concurrency,
  type Ended,
  isUnproven,
  SLOW_AFTER_MS,
} from './concurrency.ts'
import { isFirst, type Job } from './job.ts'
import { sendingBytesOf } from './limits.ts'
import type { RateLimit } from './rate-limit.ts'

/** After so many first attempts in a row a waiting repeat, which is a retry or a resend, has its turn. */
const FIRST_ATTEMPTS_IN_A_ROW = 7

/**
 * One endpoint's jobs. First attempts come before repeats (retries and resends), oldest first. First attempts with the
 * same key are made one after the other (OP-74). Repeats may overtake any job.
 */
export class EndpointQueue {
  readonly endpointId: string
  readonly workspaceId: string
  concurrency: Concurrency
  /** Its requests per second, and until when it asked for none. */
  readonly rate: RateLimit
  /** Jobs held: waiting, in flight, or over but not recorded. */
  readonly jobs = new Set<Job>()
  bytes = 0
  /** The held repeats. */
  repeats = 0
  /** In flight, or over but not recorded. */
  busy = 0
  /** The busy repeats. */
  busyRepeats = 0
  inFlight = 0
  /** The attempts in flight that started while the endpoint was not known to answer. */
  readonly unproven = new Set<Job>()
  unprovenSending = 0
  /** The bytes of the bodies in flight. Each attempt has its own copy on the way out. */
  sending = 0
  /** The cursor of readings: the next one begins behind this first attempt; undefined: with the oldest. */
  readUpTo: string | undefined
  #movedAt = 0
  #firstAttemptsInARow = 0
  #firstAttempts: Job[] = []
  #waitingRepeats: Job[] = []
  /** By key, while first attempts with it are in flight: how many, and those that wait for them. */
  readonly #behind = new Map<string, { inFlight: number; readonly waiting: Job[] }>()

  constructor(endpointId: string, workspaceId: string, concurrency: Concurrency, rate: RateLimit) {
    this.endpointId = endpointId
    this.workspaceId = workspaceId
    this.concurrency = concurrency
    this.rate = rate
  }

  add(job: Job): void {
    this.#hold(job)
    if (isFirst(job)) {
      this.#firstAttempts.push(job)
    } else {
      this.#waitingRepeats.push(job)
    }
  }

  /** Adds a job that is in flight already, from elsewhere. */
  addInFlight(job: Job, now: number): void {
    this.#hold(job)
    const behind = this.#behind.get(job.key)
    if (!isFirst(job)) this.busyRepeats++
    // A former owner may have one in flight, and others that are over and not recorded.
    else if (behind !== undefined) behind.inFlight++
    else this.#behind.set(job.key, { inFlight: 1, waiting: [] })
    this.#started(job, now)
  }

  /** The attempts in flight beyond BASE_CONCURRENCY, which any endpoint may have. */
  get burst(): number {
    return Math.max(0, this.inFlight - BASE_CONCURRENCY)
  }

  get hasFirst(): boolean {
    return this.#firstAttempts.length > 0
  }

  get hasRepeat(): boolean {
    return this.#waitingRepeats.length > 0
  }

  /** The next job, now in flight; undefined when none may start. */
  start(now: number): Job | undefined {
    if (this.#firstAttemptsInARow < FIRST_ATTEMPTS_IN_A_ROW) return this.startFirst(now) ?? this.startRepeat(now)
    return this.startRepeat(now) ?? this.startFirst(now)
  }

  startFirst(now: number): Job | undefined {
    while (this.inFlight < this.concurrency.limit) {
      const job = this.#firstAttempts.shift()
      if (job === undefined) return undefined
      const behind = this.#behind.get(job.key)
      if (behind !== undefined) {
        behind.waiting.push(job)
        continue
      }
      this.#behind.set(job.key, { inFlight: 1, waiting: [] })
      this.#firstAttemptsInARow++
      this.rate.noteStart(job)
      return this.#started(job, now)
    }
    return undefined
  }

  startRepeat(now: number): Job | undefined {
    if (this.inFlight >= this.concurrency.limit) return undefined
    const job = this.#waitingRepeats.shift()
    if (job === undefined) return undefined
    this.#firstAttemptsInARow = 0
    this.busyRepeats++
    this.rate.noteStart(job)
    return this.#started(job, now)
  }

  #started(job: Job, now: number): Job {
    if (this.inFlight === 0) this.#movedAt = now
    this.inFlight++
    this.sending += sendingBytesOf(job.body)
    if (isUnproven(this.concurrency)) {
      this.unproven.add(job)
      this.unprovenSending += sendingBytesOf(job.body)
    }
    this.busy++
    return job
  }

  /** Ends a job in flight. Without `ended` no attempt was made, and the concurrency stays. */
  end(job: Job, now: number, ended?: Ended): void {
    this.inFlight--
    this.sending -= sendingBytesOf(job.body)
    if (this.unproven.delete(job)) this.unprovenSending -= sendingBytesOf(job.body)
    this.#movedAt = now
    this.rate.noteEnd(job)
    if (ended !== undefined) {
      const { limit } = this.concurrency
      const after = afterAttempt(this.concurrency, ended, now)
      // What was in flight when the endpoint asked for a pause does not tell how many it bears after it.
      this.concurrency = this.rate.isHeld(now) ? { ...after, limit: Math.min(limit, after.limit) } : after
      if (ended.retryAfterMs !== undefined) this.rate.hold(now + ended.retryAfterMs)
    }
    if (!isFirst(job)) return
    // The waiting ones return to the front in their order. The first of them starts next, and the others wait for it
    // again.
    const behind = this.#behind.get(job.key)
    if (behind === undefined || --behind.inFlight > 0) return
    this.#behind.delete(job.key)
    if (behind.waiting.length > 0) this.#firstAttempts = [...behind.waiting, ...this.#firstAttempts]
  }

  /** Removes a job that has ended. */
  forget(job: Job): void {
    this.busy--
    if (!isFirst(job)) this.busyRepeats--
    this.#drop(job)
  }

  /** Slows down when nothing has ended for a second. Notes when the endpoint itself keeps what waits. */
  noteStall(now: number): void {
    if (this.inFlight > 0 && now - this.#movedAt >= SLOW_AFTER_MS) {
      this.#movedAt = now
      this.concurrency = afterStall(this.concurrency, now)
    }
    if (this.#isFull) this.rate.noteKept(now)
  }

  /** Whether as many are in flight as may be, or all others wait for one of them with the same key. */
  get #isFull(): boolean {
    const isBehind = this.waiting > 0 && !this.hasFirst && !this.hasRepeat
    return isBehind || this.inFlight >= this.concurrency.limit
  }

  /** Removes and returns waiting jobs until `kept` are left, the newest first: repeats before first attempts. */
  trim(kept: number): Job[] {
    const trimmed: Job[] = []
    const behind = [...this.#behind.values()].map(({ waiting }) => waiting)
    for (const list of [this.#waitingRepeats, this.#firstAttempts, ...behind]) {
      for (let excess = this.waiting - kept; excess > 0; excess--) {
        const job = list.pop()
        if (job === undefined) break
        this.#drop(job)
        trimmed.push(job)
      }
    }
    if (trimmed.length > 0) this.readUpTo = undefined
    return trimmed
  }

  get held(): number {
    return this.jobs.size
  }

  /** Jobs not yet started. */
  get waiting(): number {
    return this.held - this.busy
  }

  /** The held first attempts. */
  get firstAttempts(): number {
    return this.held - this.repeats
  }

  #hold(job: Job): void {
    this.jobs.add(job)
    this.bytes += job.body.length
    if (!isFirst(job)) this.repeats++
  }

  #drop(job: Job): void {
    this.jobs.delete(job)
    this.bytes -= job.body.length
    if (!isFirst(job)) this.repeats--
  }
}
