import { deadline } from '@backoffice/runtime/deadline.ts'
import { type Instant, passedSince, present } from '@backoffice/runtime/passed-time.ts'
import postgres from 'postgres'
import { watched } from './connections.ts'
import type { Sql } from './database.ts'
import { type DatabaseServer, tlsTo } from './database-server.ts'

/** Called with each notification on a channel that the session listens to. */
export type Notified = (channel: string, payload: string) => void

/**
 * Opens one connection, which is never closed for its age. A query after `onClose` would open another one, without the
 * locks and temporary tables of the first.
 */
export function openSession(
  server: DatabaseServer,
  applicationName: string,
  onClose: () => void,
  settings: Readonly<Record<string, string>> = {},
  onNotification?: Notified,
): Sql {
  return postgres(server.url, {
    ...tlsTo(server),
    ...watched(server, applicationName),
    max: 1,
    max_lifetime: null,
    connect_timeout: 5,
    onnotice: () => undefined,
    onclose: onClose,
    ...(onNotification && { onnotify: onNotification }),
    connection: { ...settings, application_name: applicationName },
  }) as Sql
}

/** Opens a session that is closed when an answer takes too long; the connection is made by the first statement. */
export function openTimedSession(
  server: DatabaseServer,
  applicationName: string,
  answerWithinMs: number,
  settings?: Readonly<Record<string, string>>,
  onNotification?: Notified,
) {
  const lost = new AbortController()
  let lastAsked: Instant | undefined
  const close = async () => {
    lost.abort()
    await sql.end({ timeout: 1 }).catch(() => undefined)
  }
  const sql = openSession(server, applicationName, () => void close(), settings, onNotification)
  return {
    /** Sends statements on that connection. They fail once it is lost. */
    sql,
    /** Aborted when the connection is lost or closed, and its locks with it. */
    lost: lost.signal,
    /** Waits for an answer. After `answerWithinMs` without one, closes the session, which fails the statement. */
    async answered<Answer>(statement: Promise<Answer>): Promise<Answer> {
      const asked = present()
      const answer = await statement.finally(deadline(answerWithinMs, () => void close()))
      lastAsked = asked
      return answer
    },
    /** Milliseconds since the last answered statement was sent: the locks were held then. */
    unconfirmedMs: () => (lastAsked === undefined ? Number.POSITIVE_INFINITY : passedSince(lastAsked)),
    close,
  }
}

/** A connection of its own, such as one for advisory locks. Its locks are held until it is closed or lost. */
export type LockSession = ReturnType<typeof openTimedSession>

const KEEP_ALIVE = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '3',
  tcp_keepalives_count: '3',
  // Keepalives rest while data, such as a notification, is unacknowledged: such a connection ends after 15 minutes.
  tcp_user_timeout: '14000',
} as const

/**
 * Opens a session for advisory locks, on PostgreSQL itself: a pooler shares sessions. When the process ends, the server
 * releases the locks at once; when its machine is gone, within about 15 s.
 */
export const openLockSession = (
  server: DatabaseServer,
  applicationName: string,
  answerWithinMs: number,
  settings?: Readonly<Record<string, string>>,
  onNotification?: Notified,
): LockSession =>
  openTimedSession(server, applicationName, answerWithinMs, { ...settings, ...KEEP_ALIVE }, onNotification)
