const SECOND_MS = 1000

/**
 * The limit of an endpoint's requests per second, which holds for any second, and its Retry-After. All times are of
 * `performance.now()`. What a former owner of the endpoint has sent is not known: the second before `since` counts as
 * full.
 */
export class RateLimit {
  /** Requests per second; undefined without a limit. */
  perSecond: number | undefined
  readonly #since: number
  #heldUntil = 0
  /** When requests of the last second began, oldest first. */
  #starts: number[] = []

  constructor(since: number) {
    this.#since = since
  }

  /** The endpoint asked for no request before `until`. */
  hold(until: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, until)
  }

  noteStart(now: number): void {
    if (this.perSecond === undefined) return
    this.#starts.push(now)
    while (this.#starts.length > this.perSecond) this.#starts.shift()
  }

  /** The time from which the next request may begin; not later than `now` when it may now. */
  nextAt(now: number): number {
    if (this.perSecond === undefined) return this.#heldUntil
    const inTheWay = this.#starts.at(-this.perSecond)
    return Math.max(this.#heldUntil, this.#since + SECOND_MS, inTheWay === undefined ? now : inTheWay + SECOND_MS)
  }
}
