const SECOND_MS = 1000
/** What waits for longer than this, in milliseconds, waits in the table. A look comes about every second. */
const SOON_MS = 2 * SECOND_MS
/** So many jobs may wait in memory for an endpoint whose Retry-After is over soon. */
const FEW = 2
/** So many may at least for an endpoint with a limit, so that a repeat has room beside first attempts. */
const LEAST = 4

/**
 * The limit of an endpoint's requests per second, which holds for any second, and its Retry-After. All times are of
 * `performance.now()`. What a former owner of the endpoint has sent is not known: an endpoint with a limit gets nothing
 * in the first second after it was taken (`since`).
 */
export class RateLimit {
  /** Requests per second; undefined without a limit. */
  perSecond: number | undefined
  /** Until when the endpoint itself has kept its deliveries waiting. */
  keptUntil = Number.NEGATIVE_INFINITY
  readonly #since: number
  #heldUntil = 0
  /** Those whose turn it was and that are still to be sent: they take a place each. */
  readonly #unsent = new Set<object>()
  /** When the latest requests were sent, oldest first. */
  readonly #sent: number[] = []

  constructor(since: number) {
    this.#since = since
  }

  /** The endpoint asked for no request before `until`. */
  hold(until: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, until)
    this.noteKept(until)
  }

  /** The endpoint itself keeps its deliveries waiting until a time, or did. */
  noteKept(until: number): void {
    this.keptUntil = Math.max(this.keptUntil, until)
  }

  /** Whether the endpoint asked for no request at this time. */
  isHeld(now: number): boolean {
    return this.#heldUntil > now
  }

  noteStart(request: object): void {
    this.#unsent.add(request)
  }

  noteSent(request: object, now: number): void {
    this.#unsent.delete(request)
    if (this.perSecond === undefined) return
    this.#sent.push(now)
    while (this.#sent.length > this.perSecond) this.#sent.shift()
  }

  /** The request has ended, or is not sent after all. */
  noteEnd(request: object): void {
    this.#unsent.delete(request)
  }

  /** How many requests may begin soon, at most. */
  soonAtMost(now: number): number {
    if (this.isHeld(now)) return this.#heldUntil - now > SOON_MS ? 0 : FEW
    if (this.perSecond === undefined) return Number.POSITIVE_INFINITY
    return Math.max(LEAST, (this.perSecond * SOON_MS) / SECOND_MS)
  }

  /** The time from which the next request may begin; not later than `now` when it may now. */
  nextAt(now: number): number {
    if (this.perSecond === undefined) return this.#heldUntil
    const places = this.perSecond - this.#unsent.size
    if (places <= 0) return Number.POSITIVE_INFINITY
    const inTheWay = this.#sent.at(-places)
    return Math.max(this.#heldUntil, this.#since + SECOND_MS, inTheWay === undefined ? now : inTheWay + SECOND_MS)
  }
}
