import { retry } from '@backoffice/runtime/retry.ts'
import postgres from 'postgres'
import { ADVISORY_LOCKS } from './advisory-locks.ts'
import { watched } from './connections.ts'
import { tlsTo } from './database-server.ts'
import { isRetriable } from './postgres-errors.ts'
import { scramSecret } from './scram-secret.ts'

/** The role that migrations run as. It owns the schemas. */
export const MIGRATOR = 'backoffice_migrator'
/** Runs in databases of one server succeed one after the other: time bounds the repetitions, not their number. */
const TRY_WITHIN_MS = 60_000
const MAX_PAUSE_MS = 200

export type PasswordOf = (role: string) => string

interface Provisioning {
  readonly schemas: readonly string[]
  readonly passwordOf: PasswordOf
  /** Of the server, as in DatabaseServer. */
  readonly ca?: string | undefined
}

/**
 * Creates the schemas and their roles: one migrating role, and for each schema an app role and a worker role. No role
 * can bypass row level security. May be repeated, also by several processes at once. Sets a password of its own for
 * every role, new or not. `adminUrl` connects as a superuser, or as an owner of the database who may create roles, as
 * managed servers have it.
 */
export async function provision(adminUrl: string, { schemas, passwordOf, ca }: Provisioning): Promise<void> {
  const server = { url: adminUrl, ca }
  const sql = postgres(adminUrl, {
    ...tlsTo(server),
    ...watched(server, 'provision'),
    max: 1,
    onnotice: () => undefined,
  })
  const provisionAll = async (tx: postgres.TransactionSql) => {
    await tx`select pg_advisory_xact_lock(${ADVISORY_LOCKS.provisioning})`
    await createRole(tx, MIGRATOR, passwordOf)
    await actAs(tx, MIGRATOR)
    await tx`grant create on database ${tx(new URL(adminUrl).pathname.slice(1))} to ${tx(MIGRATOR)}`
    for (const schema of schemas) await provisionSchema(tx, schema, passwordOf)
  }
  const deadline = performance.now() + TRY_WITHIN_MS
  const pauseAfter = (error: unknown) =>
    performance.now() <= deadline && isConcurrentProvisioning(error) ? Math.random() * MAX_PAUSE_MS : undefined
  try {
    await retry(() => sql.begin(provisionAll), pauseAfter)
  } finally {
    await sql.end()
  }
}

/** Two runs create the same role. */
const CREATED_MEANWHILE: readonly string[] = ['42710', '23505']

/** The lock covers one database, but roles belong to the whole server: runs in two databases can clash. */
const isConcurrentProvisioning = (error: unknown) =>
  isRetriable(error) ||
  (error instanceof postgres.PostgresError &&
    (CREATED_MEANWHILE.includes(error.code) || error.message === 'tuple concurrently updated'))

async function provisionSchema(tx: postgres.TransactionSql, schema: string, passwordOf: PasswordOf) {
  const worker = `${schema}_worker`
  await tx`create schema if not exists ${tx(schema)} authorization ${tx(MIGRATOR)}`
  for (const role of [schema, worker]) {
    await createRole(tx, role, passwordOf)
    await tx`alter role ${tx(role)} set search_path = ${tx(schema)}`
    await tx`alter role ${tx(role)} set statement_timeout = '30s'`
    await tx`alter role ${tx(role)} set idle_in_transaction_session_timeout = '30s'`
    // Compiling a statement takes longer than any statement here runs; PostgreSQL decides on it by estimates.
    await tx`alter role ${tx(role)} set jit = 'off'`
    await tx`grant usage on schema ${tx(schema)} to ${tx(role)}`
  }
  await tx`
    alter default privileges for role ${tx(MIGRATOR)} in schema ${tx(schema)}
    grant select, insert, update, delete on tables to ${tx(schema)}`
}

async function createRole(tx: postgres.TransactionSql, role: string, passwordOf: PasswordOf) {
  const [existing] = await tx<
    { bypasses: boolean }[]
  >`select rolbypassrls as bypasses from pg_roles where rolname = ${role}`
  // An owner that is no superuser may not set nobypassrls on an existing role, even where it changes nothing.
  const options = existing?.bypasses === false ? 'login' : 'login nobypassrls'
  // Role statements take no parameters; format() in the server does the quoting.
  const [statement] = await tx<{ text: string }[]>`
    select format(${`${existing ? 'alter' : 'create'} role %I ${options} password %L`}, ${role}::text, ${scramSecret(passwordOf(role))}::text) as text`
  await tx.unsafe(statement?.text ?? '')
}

/** Grants a role to the current user, to create schemas that it owns. Superusers have all rights. */
async function actAs(tx: postgres.TransactionSql, role: string) {
  const [rights] =
    await tx`select where pg_has_role(current_user, ${role}, 'USAGE') and pg_has_role(current_user, ${role}, 'SET')`
  if (rights === undefined) await tx`grant ${tx(role)} to current_user with inherit true, set true`
}

/** The URL a role connects with to the database that `adminUrl` names. */
export function roleUrl(adminUrl: string, role: string, passwordOf: PasswordOf): string {
  const url = new URL(adminUrl)
  url.username = role
  // The setter does not encode %.
  url.password = encodeURIComponent(passwordOf(role))
  return url.href
}

/** The URL that migrations connect with. */
export const migratorUrl = (adminUrl: string, passwordOf: PasswordOf): string => roleUrl(adminUrl, MIGRATOR, passwordOf)
