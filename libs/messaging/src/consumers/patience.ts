const FIRST_WAIT_MS = 100
/** After so long without a bug the next one is waited for anew. */
const FORGET_BUGS_AFTER_MS = 30 * 60_000

export interface PatienceLimits {
  /** How long errors that may be bugs are waited for, in milliseconds. */
  readonly bugMs: number
  /** The longest wait between two tries, in milliseconds. */
  readonly longestWaitMs: number
}

/**
 * How long work that fails has waited, by a name such as that of its partition. In memory: after a restart it waits
 * from the beginning.
 */
export class Patience {
  readonly #limits: PatienceLimits
  readonly #now: () => number
  readonly #waiting = new Map<string, { since: number; failures: number }>()
  /** When the work met a bug first and last. */
  readonly #bugs = new Map<string, { since: number; last: number }>()

  constructor(limits: PatienceLimits, now = () => performance.now()) {
    this.#limits = limits
    this.#now = now
  }

  /** Notes that the work failed. Returns the wait before the next try, in milliseconds. */
  failed(name: string): number {
    const { since, failures } = this.#waiting.get(name) ?? { since: this.#now(), failures: 0 }
    this.#waiting.set(name, { since, failures: failures + 1 })
    return Math.min(FIRST_WAIT_MS * 2 ** failures, this.#limits.longestWaitMs)
  }

  /**
   * Notes that the work may have met a bug. Returns whether it has waited `bugMs` for it. Once it has, further bugs are
   * not waited for until half an hour has passed without one: a thousand bad records are one wait.
   */
  isOver(name: string): boolean {
    const [now, former] = [this.#now(), this.#bugs.get(name)]
    const since = former !== undefined && now - former.last <= FORGET_BUGS_AFTER_MS ? former.since : now
    this.#bugs.set(name, { since, last: now })
    return now - since >= this.#limits.bugMs
  }

  /** Notes that the work went on. */
  succeeded(name: string): void {
    this.#waiting.delete(name)
  }

  /** How long the longest waiting work has waited, in seconds; 0 when none waits. */
  longestSeconds(isOwn: (name: string) => boolean = () => true): number {
    const sinces = [...this.#waiting].filter(([name]) => isOwn(name)).map(([, { since }]) => since)
    return sinces.length === 0 ? 0 : (this.#now() - Math.min(...sinces)) / 1000
  }
}
