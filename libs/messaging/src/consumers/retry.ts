import { setTimeout as pause } from 'node:timers/promises'
import { isStatementTimeout, isUnavailable } from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'

const MAX_WAIT_MS = 1000

/** The batch is left unfinished, because this member stops or has lost the partition. Its records come again. */
export class Interrupted extends Error {}

export interface RetryOptions {
  /** The consumer's name; its dead letters go to the topic `<name>.dead-letters`. */
  readonly name: string
  readonly logger: Logger
  /** Called before each try; throws Interrupted to end the retries. */
  throwIfInterrupted(): void
  /** Called before each wait. */
  onRetry(): void
}

/** Runs `work` until it succeeds, with growing waits. Throws the errors that `isWorthRetrying` refuses. */
export async function retryWhileUnavailable<Result>(
  { name, logger, throwIfInterrupted, onRetry }: RetryOptions,
  work: () => Promise<Result>,
  isWorthRetrying: (error: unknown) => boolean = () => true,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    throwIfInterrupted()
    try {
      return await work()
    } catch (error) {
      if (!isWorthRetrying(error)) throw error
      onRetry()
      logger.warn({ err: error, consumer: name, failures }, 'trying again until it succeeds')
      await pause(Math.min(50 * 2 ** failures, MAX_WAIT_MS))
    }
  }
}

/** SQLSTATE classes for a missing role, database, table, column or grant. */
const SCHEMA_MISMATCH = /^(28|3D|42)/
/** SQLSTATE class for a transaction that was rolled back in favour of another: deadlock, serialization failure. */
const ROLLED_BACK = /^40/

/**
 * Whether the error may pass without a change of the record: PostgreSQL is away, another transaction won, or a
 * migration, role or grant is missing. Such a record is tried again and never goes to the dead letters. A statement that
 * took too long is not transient: the same statement mostly takes as long again.
 */
export function isTransient(error: unknown): boolean {
  const code = error instanceof Error && error.name === 'PostgresError' && 'code' in error ? String(error.code) : ''
  if (isStatementTimeout(error)) return false
  return isUnavailable(error) || SCHEMA_MISMATCH.test(code) || ROLLED_BACK.test(code)
}
