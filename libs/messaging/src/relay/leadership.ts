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

/** A leader asks whether it leads when it knows it from an older answer. In a stream of rows answers are younger. */
const SURE_FOR_MS = 50

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

/**
 * Throws unless this process leads, to be called just before it sends: after a standstill another leader may have sent
 * newer rows. What remains: a standstill after the check, while the request is on its way to Kafka, and one within
 * SURE_FOR_MS of an answer that neither clock of the host has counted.
 */
export async function confirmLead(session: LockSession): Promise<void> {
  if (session.lost.aborted) throw new Error('leads no more')
  if (session.unconfirmedMs() > SURE_FOR_MS) await session.answered(session.sql`select 1`)
}
