import { setTimeout as pause } from 'node:timers/promises'
import { isTransient } from '@backoffice/messaging/consumers/transient-errors.ts'
import { isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { type Attempt, withoutAnswer } from './attempt.ts'
import { countUnwritableAttempt } from './delivery-metrics.ts'

/** Attempts written at once, at most. */
const BATCH_SIZE = 500
/** How long an attempt waits for others to be written with, in milliseconds. */
const LINGER_MS = 10
const TRY_AGAIN_MS = 500
/** While PostgreSQL is away, one try of so many is logged. */
const LOGGED_EVERY = 20

/** Writes attempts, and returns the ids of the deliveries whose claim still held. */
export type WriteAttempts = (attempts: readonly Attempt[]) => Promise<Set<string>>

export interface RecorderOptions {
  readonly write: WriteAttempts
  /** Called with each batch of attempts that is written or given up; an attempt comes once. */
  onWritten(attempts: readonly Attempt[], recorded: ReadonlySet<string>): void
  readonly logger: Pick<Logger, 'warn' | 'error'>
}

/**
 * Writes the attempts that end at about the same time in one transaction, one write at a time. Repeats a write while
 * PostgreSQL is away, so that no attempt is lost while the process lives. Halves a batch that PostgreSQL refuses until
 * the refused attempt is alone, and writes that one without its answer: without a stored outcome the delivery would be
 * sent again and again.
 */
export class Recorder {
  readonly #options: RecorderOptions
  #waiting: Attempt[] = []
  #writing: Promise<void> | undefined

  constructor(options: RecorderOptions) {
    this.#options = options
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
    while (this.#waiting.length > 0) {
      await pause(LINGER_MS)
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

  /** Writes a refused attempt without its answer. If refused again, the delivery is sent when the lease ends. */
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
      logger.error({ ...ids, err: error.cause }, 'an attempt cannot be written: it is made again when its lease ends')
      return new Set<string>()
    })
    onWritten([attempt], recorded)
  }

  /**
   * Writes attempts, and repeats while PostgreSQL is away. Throws Refused when PostgreSQL refuses them, or on a
   * statement timeout.
   */
  async #untilWrittenOrRefused(attempts: readonly Attempt[]): Promise<Set<string>> {
    const { write, logger } = this.#options
    for (let failures = 0; ; failures++) {
      try {
        return await write(attempts)
      } catch (error) {
        if (!isTransient(error) || isStatementTimeout(error)) throw new Refused('not written', { cause: error })
        if (failures % LOGGED_EVERY === 0) {
          logger.warn({ err: error, attempts: attempts.length, failures: failures + 1 }, 'attempts are not written yet')
        }
        await pause(TRY_AGAIN_MS)
      }
    }
  }
}

/** The cause is PostgreSQL's error. */
class Refused extends Error {}
