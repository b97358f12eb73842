import { setTimeout as pause } from 'node:timers/promises'
import { causeOf } from '@backoffice/messaging/consumers/error-causes.ts'
import { Patience, type PatienceLimits } from '@backoffice/messaging/consumers/patience.ts'
import { isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { type Attempt, withoutAnswer } from '../sending/attempt.ts'
import { countUnwritableAttempt, measureUnwritten } from './delivery-metrics.ts'

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

/** Writes attempts. Returns the ids of the written deliveries, and when each is due again. */
export type WriteAttempts = (attempts: readonly Attempt[]) => Promise<ReadonlyMap<string, Date | null>>

export interface RecorderOptions {
  readonly write: WriteAttempts
  /** Called with each batch of attempts that is written or given up; an attempt comes once. */
  onWritten(attempts: readonly Attempt[], recorded: ReadonlyMap<string, Date | null>): void
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly limits?: PatienceLimits
}

/**
 * Writes the attempts that end at about the same time in one transaction, one write at a time. Repeats a write
 * that fails for another reason than its values, so that no attempt is lost while the process lives. Halves a batch
 * that PostgreSQL refuses until the refused attempt is alone, and writes that one without its answer: without a stored
 * outcome the delivery would be sent again and again.
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
    try {
      this.#options.onWritten(attempts, await this.#untilWrittenOrRefused(attempts))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const [first, ...others] = attempts
      if (first === undefined) return
      if (others.length === 0) return this.#writeRefused(first, error.cause)
      const middle = attempts.length >> 1
      await this.#writeBatch(attempts.slice(0, middle))
      await this.#writeBatch(attempts.slice(middle))
    }
  }

  /** Writes a refused attempt without its answer. If refused again, the delivery is sent again later. */
  async #writeRefused(attempt: Attempt, cause: unknown): Promise<void> {
    const { onWritten, logger } = this.#options
    const { target, deliveryId, attemptsMade } = attempt.job
    const ids = {
      workspace_id: target.workspaceId,
      endpoint_id: target.id,
      delivery_id: deliveryId,
      attempt: attemptsMade + 1,
    }
    countUnwritableAttempt()
    logger.error({ ...ids, err: cause }, 'PostgreSQL refused an attempt: it is stored without its answer')
    const recorded = await this.#untilWrittenOrRefused([withoutAnswer(attempt)]).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error
      logger.error({ ...ids, err: error.cause }, 'an attempt cannot be written: it is made again in a minute')
      return new Map<string, Date | null>()
    })
    onWritten([attempt], recorded)
  }

  /** Repeats a write until it succeeds. Throws Refused when fewer attempts, or other values, may succeed. */
  async #untilWrittenOrRefused(attempts: readonly Attempt[]): Promise<ReadonlyMap<string, Date | null>> {
    const { write, logger } = this.#options
    for (let failures = 1; ; failures++) {
      try {
        const recorded = await write(attempts)
        this.#patience.succeeded(WRITES)
        return recorded
      } catch (error) {
        if (this.#isRefusal(error, attempts)) throw new Refused('not written', { cause: error })
        if (failures % LOGGED_EVERY === 1) {
          logger.warn({ err: error, attempts: attempts.length, failures }, 'attempts are not written yet')
        }
        await pause(this.#patience.failed(WRITES))
      } finally {
        measureUnwritten(this.#patience.longestSeconds())
      }
    }
  }

  #isRefusal(error: unknown, attempts: readonly Attempt[]): boolean {
    if (isStatementTimeout(error) && attempts.length > 1) return true
    const cause = causeOf(error)
    return cause === 'RECORD' || (cause === 'BUG' && this.#patience.isOver(WRITES, error))
  }
}

/** The cause is the error of the write. */
class Refused extends Error {}
