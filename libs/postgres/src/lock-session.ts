import postgres from 'postgres'
import type { Sql } from './database.ts'

/**
 * Opens one connection for advisory locks, which are held until it ends; so it is never closed for its age. `onClose`
 * is called when the connection is lost. A query after that would open another connection, without the locks. When the
 * owner's process ends, the server releases the locks at once; when its machine is gone, within about 15 s.
 */
export function openSession(
  url: string,
  applicationName: string,
  onClose: () => void,
  settings: Readonly<Record<string, string>> = {},
): Sql {
  return postgres(url, {
    max: 1,
    max_lifetime: null,
    connect_timeout: 5,
    onnotice: () => undefined,
    onclose: onClose,
    connection: {
      ...settings,
      application_name: applicationName,
      tcp_keepalives_idle: 5,
      tcp_keepalives_interval: 3,
      tcp_keepalives_count: 3,
    },
  }) as Sql
}

/** A connection of its own for advisory locks. Its locks are held until it is closed or lost. */
export type LockSession = ReturnType<typeof openLockSession>

/**
 * Opens a session for advisory locks; the connection is made by the first statement. `url` leads to the server itself
 * and not to a pooler that shares sessions.
 */
export function openLockSession(
  url: string,
  applicationName: string,
  answerWithinMs: number,
  settings?: Readonly<Record<string, string>>,
) {
  const lost = new AbortController()
  const close = async () => {
    lost.abort()
    await sql.end({ timeout: 1 }).catch(() => undefined)
  }
  const sql = openSession(url, applicationName, () => void close(), settings)
  return {
    /** Sends statements on that connection. They fail once it is lost. */
    sql,
    /** Aborted when the connection is lost or closed, and the locks with it. */
    lost: lost.signal,
    /** Waits for an answer. After `answerWithinMs` without one, closes the session, which fails the statement. */
    async answered<Answer>(statement: Promise<Answer>): Promise<Answer> {
      const deadline = setTimeout(() => void close(), answerWithinMs)
      try {
        return await statement
      } finally {
        clearTimeout(deadline)
      }
    },
    close,
  }
}
