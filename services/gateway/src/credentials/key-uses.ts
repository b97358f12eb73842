import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'

const EVERY_MS = 60_000

/**
 * Remembers which keys, sessions of the console and operator tokens were used and writes it once a minute, and at the
 * stop: no request waits for it, or fails by it. `db` is of the worker role.
 */
export function keyUses(db: Database, logger: Logger) {
  let noted = new Map<string, Date>()

  async function write() {
    if (noted.size === 0) return
    const written = noted
    noted = new Map()
    try {
      await writeUses(db, written)
    } catch (error) {
      noted = new Map([...written, ...noted])
      throw error
    }
  }

  const writer = worker({ name: 'key uses', everyMs: EVERY_MS, logger, work: write })
  return {
    ...writer,
    /** Notes a use of a key, session or token, in memory. */
    note: (id: string, at: Date) => void noted.set(id, at),
    /** Writes all noted uses with one statement; sends none when there are none. */
    write,
    async stop() {
      await writer.stop?.()
      await write()
    },
  }
}
export type KeyUses = ReturnType<typeof keyUses>

async function writeUses({ sql }: Database, uses: ReadonlyMap<string, Date>): Promise<void> {
  const rows = JSON.stringify([...uses].map(([id, at]) => ({ id, at })))
  await sql`
    with used as materialized (
      select * from json_to_recordset(${rows}::text::json) as used (id uuid, at timestamptz)
    ), keys as materialized ( -- locked in one order, so that replicas do not deadlock
      select api_key.id, used.at from used join api_key on api_key.id = used.id
      order by api_key.id for no key update of api_key
    ), tokens as materialized (
      select operator_token.id, used.at from used join operator_token on operator_token.id = used.id
      order by operator_token.id for no key update of operator_token
    ), of_tokens as (
      update operator_token set last_used_at = greatest(last_used_at, tokens.at)
      from tokens where operator_token.id = tokens.id
    ), sessions as materialized (
      select console_session.id, used.at from used join console_session on console_session.id = used.id
      order by console_session.id for no key update of console_session
    ), of_sessions as (
      update console_session set last_used_at = greatest(last_used_at, least(sessions.at, clock_timestamp()))
      from sessions where console_session.id = sessions.id
    )
    -- An update that leaves last_used_at as it was would be announced as a change of the key.
    update api_key set last_used_at = keys.at
    from keys where api_key.id = keys.id and (last_used_at is null or last_used_at < keys.at)`
}
