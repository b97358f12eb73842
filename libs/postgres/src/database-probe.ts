import type { Component } from '@backoffice/runtime/component.ts'
import type { ProcessContext } from '@backoffice/runtime/process.ts'
import { retry } from '@backoffice/runtime/retry.ts'
import { noteConnections } from './connections.ts'
import type { Sql } from './database.ts'
import type { DatabaseServer } from './database-server.ts'
import { type LockSession, openTimedSession } from './lock-session.ts'
import { isUnavailable } from './postgres-errors.ts'
import { refusedConnection } from './refuse-wrong-database.ts'

const ANSWER_WITHIN_MS = 2000
/** The pause before PostgreSQL is asked again at the start, in milliseconds. */
const AGAIN_AFTER_MS = 1000
/** The session is closed when nobody has asked for so long: PostgreSQL keeps some megabytes for each. */
const IDLE_MS = 20_000

interface Probed extends DatabaseServer {
  /** The setting that has the URL, for messages. */
  readonly setting: string
  readonly applicationName: string
}

/**
 * Ready while PostgreSQL, or the pooler before it, answers within 2 s, on a connection of the probe's own. Starts once
 * it has answered: what starts later asks it at once, and a server that is away ends no process (OP-174). Until then
 * the probe ends the process when the connection is refused, or when row level security does not hold for the role.
 * Later it ends nothing: a replica goes on with the connections that it has. When PostgreSQL answers after it did not,
 * the connections of the process that have heard nothing since are given up.
 */
export function databaseProbe(
  { setting, applicationName, ...server }: Probed,
  { fatal, logger }: Pick<ProcessContext, 'fatal' | 'logger'>,
): Component {
  let session: LockSession | undefined
  let isChecked = false
  let isStopping = false
  const closing = setTimeout(() => void session?.close(), IDLE_MS).unref()
  let giveUpSilent: (() => Promise<number>) | undefined

  async function ask(): Promise<void> {
    const noted = noteConnections(server)
    try {
      await probe()
    } catch (error) {
      giveUpSilent = noted
      throw error
    }
    if ((await giveUpSilent?.()) === 0) giveUpSilent = undefined
  }

  async function probe(): Promise<void> {
    closing.refresh()
    if (session === undefined || session.lost.aborted)
      session = openTimedSession(server, applicationName, ANSWER_WITHIN_MS)
    const { sql, answered } = session
    if (isChecked) return void (await answered(sql`select 1`))
    const refusal = await answered(refusalOfRole(sql)).catch((error: unknown) => {
      const refused = refusedConnection(error, setting)
      if (refused !== undefined) fatal(refused.message)
      throw error
    })
    if (refusal !== undefined) fatal(`configuration: ${setting}: ${refusal}`)
    isChecked = true
  }

  return {
    name: applicationName,
    async start() {
      await retry(ask, (error) => {
        const isAway = isUnavailable(error) && refusedConnection(error, setting) === undefined
        if (isStopping || !isAway) return undefined
        logger.warn({ err: error, setting }, 'PostgreSQL does not answer, trying again')
        return AGAIN_AFTER_MS
      })
    },
    async isReady() {
      await ask()
      return true
    },
    async stop() {
      isStopping = true
      clearTimeout(closing)
      await session?.close()
    },
  }
}

/** Why not to use a role: row level security does not hold for superusers, BYPASSRLS and owners of tables. */
export async function refusalOfRole(sql: Sql): Promise<string | undefined> {
  const [role] = await sql<{ name: string; problem: string | null }[]>`
    select rolname as name, case
      when rolsuper then 'a superuser'
      when rolbypassrls then 'which bypasses row level security (BYPASSRLS)'
      when exists (
        select from pg_namespace
        left join pg_class on pg_class.relnamespace = pg_namespace.oid and pg_class.relkind in ('r', 'p')
        where nspname = current_schema()
          and (pg_has_role(current_user, nspowner, 'usage') or pg_has_role(current_user, relowner, 'usage'))
      ) then 'which owns the tables or may act as their owner'
    end as problem
    from pg_roles where rolname = current_user`
  if (!role?.problem) return undefined
  return `connects as ${role.name}, ${role.problem}; use the service's own role, which provisioning creates`
}
