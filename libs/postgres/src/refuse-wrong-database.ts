import { ConfigurationError } from '@backoffice/runtime/configuration-error.ts'
import { tlsRefusal } from '@backoffice/runtime/tls-refusal.ts'
import type { DatabaseServer } from './database-server.ts'
import { openTimedSession } from './lock-session.ts'

const ANSWER_WITHIN_MS = 10_000
const WRONG_PASSWORD = '28P01'
const NOT_AUTHORIZED = '28000'
/** SQLSTATE of a parameter that is not known, of a wrong value, and of one that only the server's start takes. */
const WRONG_PARAMETER = /^(42704|22023|55P02)$/
/** PgBouncer's words. Its code is that of any error of the protocol. */
const UNSUPPORTED_PARAMETER = /^unsupported startup parameter/

/**
 * Connects once, before a command opens its connections. Throws ConfigurationError when PostgreSQL or TLS refuses, and
 * an error that names the setting when nothing answers.
 */
export async function refuseWrongDatabase(server: DatabaseServer, setting: string): Promise<void> {
  const { sql, answered, close } = openTimedSession(server, 'first connection', ANSWER_WITHIN_MS)
  try {
    await answered(sql`select 1`)
  } catch (error) {
    const refused = refusedConnection(error, setting)
    if (refused !== undefined) throw refused
    const reason = error instanceof Error ? error.message : error
    throw new Error(`${setting}: PostgreSQL does not answer: ${reason}`, { cause: error })
  } finally {
    await close()
  }
}

/** A permanent refusal by PostgreSQL or TLS; undefined for other errors. `setting` has the URL. */
export function refusedConnection(error: unknown, setting: string): ConfigurationError | undefined {
  const problem = problemOf(error, setting)
  return problem === undefined ? undefined : new ConfigurationError(problem, { cause: error })
}

function problemOf(error: unknown, setting: string): string | undefined {
  const tls = tlsRefusal(error)
  if (tls !== undefined) return `DATABASE_CA: no TLS connection to the server of ${setting}: ${tls.reason}`
  // Migrations have another driver with other classes of errors.
  if (!(error instanceof Error && 'code' in error)) return undefined
  if (error.code === WRONG_PASSWORD) return `${setting}: PostgreSQL refuses the user or the password`
  const isFatal = 'severity' in error && error.severity === 'FATAL'
  if ((isFatal && WRONG_PARAMETER.test(String(error.code))) || UNSUPPORTED_PARAMETER.test(error.message))
    return `${setting}: PostgreSQL refuses a parameter of the connection: ${error.message}`
  if (error.code !== NOT_AUTHORIZED) return undefined
  // The server has only rules for connections with TLS (`hostssl`).
  if (error.message.endsWith('no encryption')) return `DATABASE_CA: is missing; the server of ${setting} demands TLS`
  return `${setting}: PostgreSQL refuses the connection: ${error.message}`
}
