import type { Job } from './job.ts'

/** Attempts in flight to one endpoint at most. */
const IN_FLIGHT = 10
/** An endpoint that has all of them in flight and ends none for so long hangs, for now. */
const STUCK_AFTER_MS = 1000

/**
 * One endpoint's jobs, oldest first. First attempts about one thing follow one another: the next starts when the one
 * before has ended (OP-74). Retries wait for nothing and may overtake.
 */
export class Lane {
  /** Jobs held: waiting, in flight, or over but not recorded. */
  held = 0
  #inFlight = 0
  #movedAt = 0
  #waiting: Job[] = []
  /** First attempts that wait for the one in flight about the same thing; a key is here while one is in flight. */
  readonly #behind = new Map<string, Job[]>()

  add(job: Job): void {
    this.held++
    this.#waiting.push(job)
  }

  start(): Job | undefined {
    while (this.#inFlight < IN_FLIGHT) {
      const job = this.#waiting.shift()
      if (job === undefined) return undefined
      const behind = isFirst(job) ? this.#behind.get(job.key) : undefined
      if (behind !== undefined) {
        behind.push(job)
        continue
      }
      if (isFirst(job)) this.#behind.set(job.key, [])
      this.#inFlight++
      this.#movedAt = performance.now()
      return job
    }
    return undefined
  }

  end(job: Job): void {
    this.#inFlight--
    this.#movedAt = performance.now()
    if (!isFirst(job)) return
    // Those behind go back to the front in their order: the first of them starts, the others queue up behind it again.
    this.#waiting.unshift(...(this.#behind.get(job.key) ?? []))
    this.#behind.delete(job.key)
  }

  get isStuck(): boolean {
    return this.#inFlight === IN_FLIGHT && performance.now() - this.#movedAt > STUCK_AFTER_MS
  }

  /** Takes out the jobs not yet started that `isWanted` names. */
  withdraw(isWanted: (job: Job) => boolean): Job[] {
    const withdrawn: Job[] = []
    const keep = (job: Job) => !isWanted(job) || withdrawn.push(job) === 0
    this.#waiting = this.#waiting.filter(keep)
    for (const [key, behind] of this.#behind) this.#behind.set(key, behind.filter(keep))
    return withdrawn
  }
}

const isFirst = (job: Job): boolean => job.attemptsMade === 0
