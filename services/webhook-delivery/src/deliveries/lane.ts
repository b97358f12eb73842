import { isFirst, type Job } from './job.ts'
import { type Ended, FEW, type Pace, paceAfter, paceInSilence, SLOW_AFTER_MS } from './pace.ts'

/** After so many first attempts in a row a waiting retry or resend has its turn. */
const FIRSTS_IN_A_ROW = 7

/**
 * One endpoint's jobs. First attempts come before retries and resends, oldest first. First attempts with the same key are made
 * one after the other (OP-74). Retries and resends may overtake any job.
 */
export class Lane {
  readonly endpointId: string
  readonly workspaceId: string
  pace: Pace
  /** Jobs held: waiting, in flight, or over but not recorded. */
  held = 0
  bytes = 0
  /** The held retries and resends. */
  laters = 0
  /** In flight, or over but not recorded. */
  busy = 0
  /** The busy retries and resends. */
  latersBusy = 0
  inFlight = 0
  #movedAt = 0
  #firstsInARow = 0
  #firsts: Job[] = []
  #waitingLaters: Job[] = []
  /** By key: the first attempts that wait for the one in flight. A key has an entry while one is in flight. */
  readonly #behind = new Map<string, Job[]>()

  constructor(endpointId: string, workspaceId: string, pace: Pace) {
    this.endpointId = endpointId
    this.workspaceId = workspaceId
    this.pace = pace
  }

  add(job: Job): void {
    this.held++
    this.bytes += job.body.length
    if (isFirst(job)) {
      this.#firsts.push(job)
    } else {
      this.laters++
      this.#waitingLaters.push(job)
    }
  }

  /** The attempts in flight beyond FEW, which any endpoint may have. */
  get extra(): number {
    return Math.max(0, this.inFlight - FEW)
  }

  get hasFirst(): boolean {
    return this.#firsts.length > 0
  }

  get hasLater(): boolean {
    return this.#waitingLaters.length > 0
  }

  /** The next job, now in flight; undefined when none may start. */
  start(now: number): Job | undefined {
    if (this.#firstsInARow < FIRSTS_IN_A_ROW) return this.startFirst(now) ?? this.startLater(now)
    return this.startLater(now) ?? this.startFirst(now)
  }

  startFirst(now: number): Job | undefined {
    while (this.inFlight < this.pace.width) {
      const job = this.#firsts.shift()
      if (job === undefined) return undefined
      const behind = this.#behind.get(job.key)
      if (behind !== undefined) {
        behind.push(job)
        continue
      }
      this.#behind.set(job.key, [])
      this.#firstsInARow++
      return this.#started(job, now)
    }
    return undefined
  }

  startLater(now: number): Job | undefined {
    if (this.inFlight >= this.pace.width) return undefined
    const job = this.#waitingLaters.shift()
    if (job === undefined) return undefined
    this.#firstsInARow = 0
    this.latersBusy++
    return this.#started(job, now)
  }

  #started(job: Job, now: number): Job {
    if (this.inFlight === 0) this.#movedAt = now
    this.inFlight++
    this.busy++
    return job
  }

  /** Ends a job in flight. Without `ended` no attempt was made, and the pace stays. */
  end(job: Job, now: number, ended?: Ended): void {
    this.inFlight--
    this.#movedAt = now
    if (ended !== undefined) this.pace = paceAfter(this.pace, ended, now)
    if (!isFirst(job)) return
    // The waiting ones return to the front in their order. The first of them starts next, and the others wait for it again.
    const behind = this.#behind.get(job.key) ?? []
    this.#behind.delete(job.key)
    if (behind.length > 0) this.#firsts = [...behind, ...this.#firsts]
  }

  /** Removes a job that has ended. */
  forget(job: Job): void {
    this.busy--
    if (!isFirst(job)) this.latersBusy--
    this.#drop(job)
  }

  /** Slows down when nothing has ended for a second. */
  noteSilence(now: number): void {
    if (this.inFlight === 0 || now - this.#movedAt < SLOW_AFTER_MS) return
    this.#movedAt = now
    this.pace = paceInSilence(this.pace, now)
  }

  /** The claim time of the job that waits longest (`performance.now()`); undefined when none waits. */
  get waitingSince(): number | undefined {
    let since = Number.POSITIVE_INFINITY
    for (const job of this.#waiting()) if (job.claimedAt < since) since = job.claimedAt
    return since === Number.POSITIVE_INFINITY ? undefined : since
  }

  /** Removes and returns the waiting jobs that match `isWanted`. */
  withdraw(isWanted: (job: Job) => boolean): Job[] {
    const withdrawn: Job[] = []
    const keep = (job: Job) => !isWanted(job) || withdrawn.push(job) === 0
    this.#firsts = this.#firsts.filter(keep)
    this.#waitingLaters = this.#waitingLaters.filter(keep)
    for (const [key, behind] of this.#behind) this.#behind.set(key, behind.filter(keep))
    for (const job of withdrawn) this.#drop(job)
    return withdrawn
  }

  /** Removes and returns waiting jobs until `kept` are left, the newest first: retries and resends before first attempts. */
  trim(kept: number): Job[] {
    const trimmed: Job[] = []
    for (const queue of [this.#waitingLaters, this.#firsts, ...this.#behind.values()]) {
      for (let excess = this.waiting - kept; excess > 0; excess--) {
        const job = queue.pop()
        if (job === undefined) break
        this.#drop(job)
        trimmed.push(job)
      }
    }
    return trimmed
  }

  /** Jobs not yet started. */
  get waiting(): number {
    return this.held - this.busy
  }

  *#waiting(): Generator<Job> {
    for (const behind of this.#behind.values()) yield* behind
    yield* this.#firsts
    yield* this.#waitingLaters
  }

  #drop(job: Job): void {
    this.held--
    this.bytes -= job.body.length
    if (!isFirst(job)) this.laters--
  }
}
