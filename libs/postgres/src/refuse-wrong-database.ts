import type { DatabaseServer } from './database-server.ts'
import { openLockSession } from './lock-session.ts'
import { refusedConnection } from './refused-connection.ts'

const ANSWER_WITHIN_MS = 10_000

/** Connects once, before a command opens its connections. Throws ConfigurationError when PostgreSQL or TLS refuses. */
export async function refuseWrongDatabase(server: DatabaseServer, setting: string): Promise<void> {
  const { sql, answered, close } = openLockSession(server, 'first connection', ANSWER_WITHIN_MS)
  try {
    await answered(sql`select 1`)
  } catch (error) {
    throw refusedConnection(error, setting) ?? error
  } finally {
    await close()
  }
}
