import postgres from 'postgres'
import { isRetriable } from './postgres-errors.ts'

const MIGRATOR = 'backoffice_migrator'
const LOCK = 7_021_001
const ATTEMPTS = 10

export interface Provisioning {
  readonly schemas: readonly string[]
  /** Password of every role made here. */
  readonly password: string
}

/**
 * Creates what a service's migrations stand on: the migrating role, and per schema its app role and its worker role, none
 * of which can bypass row level security. Safe to run again and from several places at once; existing roles get the
 * password given.
 */
export async function provision(adminUrl: string, { schemas, password }: Provisioning): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => undefined })
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await provisionOnce(sql, adminUrl, schemas, password)
      } catch (error) {
        if (attempt === ATTEMPTS || !isConcurrentProvisioning(error)) throw error
      }
    }
  } finally {
    await sql.end()
  }
}

const DUPLICATE_OBJECT = '42710'

/** Roles belong to the whole server, the lock to one database: runs in two databases can still meet on a role. */
const isConcurrentProvisioning = (error: unknown) =>
  isRetriable(error) ||
  (error instanceof postgres.PostgresError &&
    (error.code === DUPLICATE_OBJECT || error.message === 'tuple concurrently updated'))

async function provisionOnce(sql: postgres.Sql, adminUrl: string, schemas: readonly string[], password: string) {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK})`
    await createRole(tx, MIGRATOR, password)
    await tx`grant create on database ${tx(new URL(adminUrl).pathname.slice(1))} to ${tx(MIGRATOR)}`
    for (const schema of schemas) await provisionSchema(tx, schema, password)
  })
}

async function provisionSchema(tx: postgres.TransactionSql, schema: string, password: string) {
  const worker = `${schema}_worker`
  await tx`create schema if not exists ${tx(schema)} authorization ${tx(MIGRATOR)}`
  for (const role of [schema, worker]) {
    await createRole(tx, role, password)
    await tx`alter role ${tx(role)} set search_path = ${tx(schema)}`
    await tx`alter role ${tx(role)} set statement_timeout = '30s'`
    await tx`alter role ${tx(role)} set idle_in_transaction_session_timeout = '30s'`
    await tx`grant usage on schema ${tx(schema)} to ${tx(role)}`
  }
  await tx`
    alter default privileges for role ${tx(MIGRATOR)} in schema ${tx(schema)}
    grant select, insert, update, delete on tables to ${tx(schema)}`
}

async function createRole(tx: postgres.TransactionSql, role: string, password: string) {
  const [existing] = await tx`select from pg_roles where rolname = ${role}`
  // Role statements take no parameters; format() in the server does the quoting.
  const [statement] = await tx<{ text: string }[]>`
    select format(${`${existing ? 'alter' : 'create'} role %I login nobypassrls password %L`}, ${role}::text, ${password}::text) as text`
  await tx.unsafe(statement?.text ?? '')
}

/** The URL a role connects with to the database that `adminUrl` names. */
export function roleUrl(adminUrl: string, role: string, password: string): string {
  const url = new URL(adminUrl)
  url.username = role
  // The setter leaves % as it is.
  url.password = encodeURIComponent(password)
  return url.href
}

/** The URL that migrations connect with. */
export const migratorUrl = (adminUrl: string, password: string): string => roleUrl(adminUrl, MIGRATOR, password)
