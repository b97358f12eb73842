import { setTimeout as pause } from 'node:timers/promises'
import { causeOf } from '@backoffice/messaging/consumers/error-causes.ts'
import { Patience, type PatienceLimits } from '@backoffice/messaging/consumers/patience.ts'
import { isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { counter, gauge } from '@backoffice/runtime/metrics.ts'
import { type Attempt, withoutAnswer } from '../sending/attempt.ts'
import { idsOf } from './note-attempt.ts'

const unwritable = counter('webhook_attempts_unwritable', 'Attempts that PostgreSQL refused, or that a write left out')
const unwritten = gauge('webhook_attempts_unwritten_seconds', 'How long attempts that ended have not been written', 's')

/** Attempts written at once, at most. */
const BATCH_SIZE = 500
/** How long attempts gather that are written together, in milliseconds; from the begin of the write before. */
const LINGER_MS = 10
/** How long to try again what fails as a bug does: meanwhile the attempts of all endpoints wait. */
const LIMITS: PatienceLimits = { bugMs: 20_000, longestWaitMs: 500 }
/** While attempts wait, one try of so many is logged. */
const LOGGED_EVERY = 20
/** The name of all writes, which wait together. */
const WRITES = 'writes'
const NO_RESULTS: ReadonlyMap<string, Date | null> = new Map()

/** Writes attempts. Returns the ids of the written deliveries, and when each is due again. */
export type WriteAttempts = (attempts: readonly Attempt[]) => Promise<ReadonlyMap<string, Date | null>>

export interface RecorderOptions {
  readonly write: WriteAttempts
  /** Returns the ids of the deliveries that still wait for their results. */
  findOpen(attempts: readonly Attempt[]): Promise<Pick<ReadonlySet<string>, 'has'>>
  /** Called once with each attempt whose delivery has a result. Another write made it where `recorded` has none. */
  onWritten(attempts: readonly Attempt[], recorded: ReadonlyMap<string, Date | null>): void
  /** Called once with each attempt whose result cannot be written: the delivery is sent again. */
  onUnwritable(attempts: readonly Attempt[]): void
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly limits?: PatienceLimits
}

/**
 * Writes the attempts that end at about the same time in one transaction, one write at a time. Repeats a write
 * that fails for another reason than its values, so that no attempt is lost while the process lives. Halves a batch
 * that PostgreSQL refuses until the refused attempt is alone, and writes that one without its answer: without a stored
 * outcome the delivery would be sent again and again. Writes once more what a write has left out.
 */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #patience: Patience
  #waiting: Attempt[] = []
  #writing: Promise<void> | undefined

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#patience = new Patience(options.limits ?? LIMITS)
  }

  add(attempt: Attempt): void {
    this.#waiting.push(attempt)
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when everything added so far is written. */
  async settled(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    for (let gathered = pause(LINGER_MS); this.#waiting.length > 0; ) {
      await gathered
      gathered = pause(LINGER_MS)
      await this.#writeBatch(this.#waiting.splice(0, BATCH_SIZE))
    }
    // Reset here and not after the promise: an attempt added in between would never be written.
    this.#writing = undefined
  }

  async #writeBatch(attempts: readonly Attempt[]): Promise<void> {
    const others = await this.#write(attempts)
    const leftOut = others.length === 0 ? [] : await this.#findLeftOut(others)
    if (leftOut.length === 0) return
    unwritable.add(leftOut.length, { reason: 'left out' })
    this.#options.logger.error({ attempts: leftOut.map(idsOf) }, 'a write left out attempts: it is repeated')
    this.#giveUp(await this.#write(leftOut))
  }

  /** Writes attempts. Returns those that were not written: their deliveries may have results already. */
  async #write(attempts: readonly Attempt[]): Promise<readonly Attempt[]> {
    const others = await this.#writeAs(attempts, attempts)
    if (!(others instanceof Refused)) return others
    const [first, ...more] = attempts
    if (first === undefined) return []
    if (more.length === 0) return this.#writeRefused(first, others.cause)
    const middle = attempts.length >> 1
    return [...(await this.#write(attempts.slice(0, middle))), ...(await this.#write(attempts.slice(middle)))]
  }

  /** Writes a refused attempt without its answer. */
  async #writeRefused(attempt: Attempt, cause: unknown): Promise<readonly Attempt[]> {
    unwritable.add(1, { reason: 'refused' })
    this.#options.logger.error(
      { ...idsOf(attempt), err: cause },
      'PostgreSQL refused an attempt: it is stored without its answer',
    )
    const others = await this.#writeAs([withoutAnswer(attempt)], [attempt])
    return others instanceof Refused ? this.#giveUp([attempt], others.cause) : others
  }

  /** Writes attempts as they are `stored`. Returns those that were not written. */
  async #writeAs(stored: readonly Attempt[], attempts: readonly Attempt[]): Promise<readonly Attempt[] | Refused> {
    const recorded = await this.#untilDoneOrRefused(stored, () => this.#options.write(stored))
    if (recorded instanceof Refused) return recorded
    const [written, others] = parted(attempts, recorded)
    if (written.length > 0) this.#options.onWritten(written, recorded)
    return others
  }

  /** Returns those of some attempts that were not written whose deliveries still wait for a result. */
  async #findLeftOut(attempts: readonly Attempt[]): Promise<readonly Attempt[]> {
    const open = await this.#untilDoneOrRefused(attempts, () => this.#options.findOpen(attempts))
    if (open instanceof Refused) return this.#giveUp(attempts, open.cause)
    const [leftOut, others] = parted(attempts, open)
    if (others.length > 0) this.#options.onWritten(others, NO_RESULTS)
    return leftOut
  }

  /** Returns that nothing is left to write of these attempts. */
  #giveUp(attempts: readonly Attempt[], cause?: unknown): readonly Attempt[] {
    if (attempts.length === 0) return []
    this.#options.logger.error(
      { attempts: attempts.map(idsOf), err: cause },
      'attempts cannot be written: they are made again in a minute',
    )
    this.#options.onUnwritable(attempts)
    return []
  }

  /**
   * Repeats a statement until it succeeds. Returns Refused when it would fail again: fewer attempts, or attempts
   * without their answers, may succeed.
   */
  async #untilDoneOrRefused<Result>(
    attempts: readonly Attempt[],
    statement: () => Promise<Result>,
  ): Promise<Result | Refused> {
    for (let failures = 1; ; failures++) {
      try {
        const result = await statement()
        this.#patience.succeeded(WRITES)
        return result
      } catch (error) {
        if (this.#isRefusal(error, attempts)) return new Refused(error)
        if (failures % LOGGED_EVERY === 1) {
          this.#options.logger.warn({ err: error, attempts: attempts.length, failures }, 'attempts are not written yet')
        }
        await pause(this.#patience.failed(WRITES))
      } finally {
        unwritten.record(this.#patience.longestSeconds())
      }
    }
  }

  #isRefusal(error: unknown, attempts: readonly Attempt[]): boolean {
    if (isStatementTimeout(error) && attempts.length > 1) return true
    const cause = causeOf(error)
    return cause === 'RECORD' || (cause === 'BUG' && this.#patience.isOver(WRITES, error))
  }
}

/** The attempts whose deliveries are `among` some, and the others. */
function parted(attempts: readonly Attempt[], among: { has(deliveryId: string): boolean }): [Attempt[], Attempt[]] {
  const { in: found = [], out = [] } = Object.groupBy(attempts, ({ job }) => (among.has(job.deliveryId) ? 'in' : 'out'))
  return [found, out]
}

/** The cause is the error of the statement. */
class Refused {
  readonly cause: unknown

  constructor(cause: unknown) {
    this.cause = cause
  }
}
