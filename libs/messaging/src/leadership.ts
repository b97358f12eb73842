import type { Sql } from '@backoffice/postgres/database.ts'
import { openSession } from '@backoffice/postgres/session.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'

/** The right to publish a schema's outbox. It lasts as long as the connection it was got on. */
export interface Leadership {
  /** Sends statements on that connection only: once it is lost they fail. */
  readonly sql: Sql
  readonly lost: AbortSignal
  /** Awaits a statement's answer, and takes a connection that gives none within 45 s for lost. */
  answered<Answer>(statement: Promise<Answer>): Promise<Answer>
  /** Gives the right up by closing the connection. */
  resign(): Promise<void>
}

const TRY_AGAIN_AFTER_MS = 1000
/** Longer than the server's own statement_timeout. */
const ANSWER_WITHIN_MS = 45_000

/**
 * Waits until nobody else leads, trying about once a second. Undefined when stopped before. The lock is PostgreSQL's, so
 * `url` must lead to the server itself and not to a pooler that shares sessions.
 */
export async function becomeLeader(
  url: string,
  schema: string,
  stopping: AbortSignal,
  logger: Logger,
): Promise<Leadership | undefined> {
  while (!stopping.aborted) {
    const session = openLeadership(url, schema)
    try {
      while (!stopping.aborted) {
        if (await isFirst(session, schema)) return session
        await pauseUnless(stopping, TRY_AGAIN_AFTER_MS)
      }
    } catch (error) {
      logger.warn({ err: error, schema }, 'could not ask for the relay lock')
      await pauseUnless(stopping, TRY_AGAIN_AFTER_MS)
    }
    await session.resign()
  }
  return undefined
}

async function isFirst({ sql, answered }: Leadership, schema: string): Promise<boolean> {
  const [lock] = await answered(
    sql<[{ held: boolean }]>`select pg_try_advisory_lock(hashtextextended(${`outbox relay ${schema}`}, 0)) as held`,
  )
  return lock.held
}

function openLeadership(url: string, schema: string): Leadership {
  const lost = new AbortController()
  const close = async () => {
    lost.abort()
    await sql.end({ timeout: 1 })
  }
  const sql = openSession(url, `${schema} relay`, () => void close(), {
    // A plan kept from when the table was nearly empty would read it whole later.
    plan_cache_mode: 'force_custom_plan',
    // A mark that a crash of PostgreSQL undoes sends its record once more, which consumers expect.
    synchronous_commit: 'off',
  })
  return {
    sql,
    lost: lost.signal,
    async answered(statement) {
      const deadline = setTimeout(() => void close(), ANSWER_WITHIN_MS)
      try {
        return await statement
      } finally {
        clearTimeout(deadline)
      }
    },
    resign: close,
  }
}
