import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import { type LockSession, type Notified, openLockSession } from '@backoffice/postgres/lock-session.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import { PLANS_BY_INDEX } from './outbox-rows.ts'

const TRY_AGAIN_AFTER_MS = 1000
/** Longer than the server's own statement_timeout. */
const ANSWER_WITHIN_MS = 45_000
/** Without synchronous commits: a mark lost in a crash of PostgreSQL sends its record again, which consumers expect. */
const SETTINGS = { ...PLANS_BY_INDEX, synchronous_commit: 'off' }

/** The channel on which a schema's leader hears of rows that other processes have committed. */
export const channelOf = (schema: string) => `outbox_${schema}`

/**
 * Waits until no other process leads a schema's relay. Returns the session with its lock, which listens to the schema's
 * channel; undefined when stopped.
 */
export async function becomeLeader(
  server: DatabaseServer,
  schema: string,
  stopping: AbortSignal,
  logger: Logger,
  onNotification: Notified,
): Promise<LockSession | undefined> {
  const lockName = `outbox relay ${schema}`
  let session: LockSession | undefined
  while (!stopping.aborted) {
    session ??= openLockSession(server, `${schema} relay`, ANSWER_WITHIN_MS, SETTINGS, onNotification)
    try {
      const [lock] = await session.answered(
        session.sql<[{ held: boolean }]>`select pg_try_advisory_lock(hashtextextended(${lockName}, 0)) as held`,
      )
      if (lock.held) {
        await session.answered(session.sql`listen ${session.sql(channelOf(schema))}`)
        return session
      }
    } catch (error) {
      logger.warn({ err: error, schema }, 'could not ask for the relay lock')
      await session.close()
      session = undefined
    }
    await pauseUnless(stopping, TRY_AGAIN_AFTER_MS)
  }
  await session?.close()
  return undefined
}
