import postgres from 'postgres'
import { ADVISORY_LOCKS } from './advisory-locks.ts'
import { isRetriable } from './postgres-errors.ts'

const MIGRATOR = 'backoffice_migrator'
const ATTEMPTS = 10

/**
 * Creates the schemas and their roles, for migrations to run on: one migrating role, and for each schema an app role
 * and a worker role. No role can bypass row level security. May be repeated, also by several processes at the same
 * time. Every role gets the password given, an existing one too.
 */
export async function provision(
  adminUrl: string,
  { schemas, password }: { readonly schemas: readonly string[]; readonly password: string },
): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => undefined })
  const provisionAll = async (tx: postgres.TransactionSql) => {
    await tx`select pg_advisory_xact_lock(${ADVISORY_LOCKS.provisioning})`
    await createRole(tx, MIGRATOR, password)
    await tx`grant create on database ${tx(new URL(adminUrl).pathname.slice(1))} to ${tx(MIGRATOR)}`
    for (const schema of schemas) await provisionSchema(tx, schema, password)
  }
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        await sql.begin(provisionAll)
        return
      } catch (error) {
        if (attempt === ATTEMPTS || !isConcurrentProvisioning(error)) throw error
      }
    }
  } finally {
    await sql.end()
  }
}

const DUPLICATE_OBJECT = '42710'

/** The lock covers one database, but roles belong to the whole server: runs in two databases can clash. */
const isConcurrentProvisioning = (error: unknown) =>
  isRetriable(error) ||
  (error instanceof postgres.PostgresError &&
    (error.code === DUPLICATE_OBJECT || error.message === 'tuple concurrently updated'))

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
  // The setter does not encode %.
  url.password = encodeURIComponent(password)
  return url.href
}

/** The URL that migrations connect with. */
export const migratorUrl = (adminUrl: string, password: string): string => roleUrl(adminUrl, MIGRATOR, password)
