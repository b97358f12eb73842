import postgres from 'postgres'
import type { Sql } from './database.ts'

/**
 * Opens one connection that is never closed for its age, for advisory locks: they last as long as it does, so they are
 * their owner's sign of life. `onClose` is called when it broke; a query sent after that would open another one, without
 * the locks. The server notices within about 15 s that the owner's machine is gone; that its process is gone, at once.
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
