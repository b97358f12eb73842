import { isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'

const FIRST_WAIT_MS = 100
/** The part of the wait for a bug that is enough when other work succeeds: then the deploy is not the cause. */
const PART_AMID_SUCCESS = 0.1
/** After so long without a bug the next one is waited for anew. */
const FORGET_BUGS_AFTER_MS = 30 * 60_000

export interface PatienceLimits {
  /** How long errors that may be bugs are waited for, in milliseconds; a tenth of it while other work succeeds. */
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
  /** When the work met a bug first and last, and whether patience was over. */
  readonly #bugs = new Map<string, { since: number; last: number; isOver: boolean }>()
  #succeededAt = Number.NEGATIVE_INFINITY

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
   * Notes that the work may have met a bug. Returns whether it has waited long enough for it. Once it has, further
   * bugs are not waited for until half an hour has passed without one: a thousand bad records are one wait. A statement
   * that takes too long gets the whole time: a slow server fails the large ones, while small ones succeed.
   */
  isOver(name: string, error?: unknown): boolean {
    const [now, former] = [this.#now(), this.#bugs.get(name)]
    const since = former !== undefined && now - former.last <= FORGET_BUGS_AFTER_MS ? former.since : now
    const part = this.#succeededAt > since && !isStatementTimeout(error) ? PART_AMID_SUCCESS : 1
    const isOver = now - since >= part * this.#limits.bugMs
    this.#bugs.set(name, { since, last: now, isOver })
    return isOver
  }

  /** Notes that the work went on. A bug that has passed by itself is forgotten. */
  succeeded(name: string): void {
    this.#succeededAt = this.#now()
    this.#waiting.delete(name)
    if (this.#bugs.get(name)?.isOver === false) this.#bugs.delete(name)
  }

  /** Forgets all other work: somebody else does it now. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const known of [this.#waiting, this.#bugs]) {
      for (const name of known.keys()) if (!names.has(name)) known.delete(name)
    }
  }

  /** How long this work has waited, in seconds; 0 when it does not wait. */
  seconds(name: string): number {
    const waiting = this.#waiting.get(name)
    return waiting === undefined ? 0 : (this.#now() - waiting.since) / 1000
  }

  /** How long the longest waiting work has waited, in seconds; 0 when none waits. */
  longestSeconds(): number {
    return Math.max(0, ...[...this.#waiting.keys()].map((name) => this.seconds(name)))
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.size
  }
}
