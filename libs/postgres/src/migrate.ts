import { createHash } from 'node:crypto'
import { retry } from '@backoffice/runtime/retry.ts'
import { runner } from 'node-pg-migrate'
import postgres from 'postgres'
import { KEEP_ALIVE_SECONDS, watched } from './connections.ts'
import { type DatabaseServer, tlsTo } from './database-server.ts'
import { loadMigrations } from './migration-files.ts'
import { FOUNDATION_MIGRATIONS, MIGRATION_TABLES } from './migrations-applied.ts'
import { completeIndexes } from './partitioned-indexes.ts'
import { inTransaction } from './transaction.ts'

interface Migration extends DatabaseServer {
  readonly schema: string
  readonly directory: string
  /** How long to try again while locks are held or the server is away, in milliseconds. */
  readonly withinMs?: number
}

/**
 * Statements queue behind a migration that waits for its lock, and requests wait for 3 s at most (`REQUEST_SETTINGS`):
 * so it gives up sooner.
 */
const LOCK_TIMEOUT_MS = 2000
const TRY_WITHIN_MS = 10 * 60_000

/**
 * Brings a service's schema up to date: the foundation of every service, then the `NNNN_what.sql` files in `directory`,
 * forward only. `url` connects as the migrating role. It may be repeated, and run by several replicas at once. A
 * migration that waits too long for a lock is tried again for ten minutes, unless `withinMs` says otherwise. Afterwards
 * the indexes of partitioned tables are completed.
 */
export async function migrate({ url, ca, schema, directory, withinMs = TRY_WITHIN_MS }: Migration): Promise<void> {
  const deadline = performance.now() + withinMs
  const sql = postgres(url, {
    ...tlsTo({ url, ca }),
    ...watched({ url, ca }, 'migrate'),
    max: 1,
    onnotice: () => undefined,
  })
  try {
    for (const [migrationsTable, dir] of [
      [MIGRATION_TABLES.foundation, FOUNDATION_MIGRATIONS],
      [MIGRATION_TABLES.service, directory],
    ] as const) {
      await whileLocked(deadline, () =>
        runner({
          databaseUrl: {
            ...withTlsOf(sql, url),
            lock_timeout: LOCK_TIMEOUT_MS,
            // A statement may take hours. The system notices within 15 s that the host of the server has vanished.
            keepAlive: true,
            keepAliveInitialDelayMillis: KEEP_ALIVE_SECONDS * 1000,
          },
          schema,
          dir,
          migrationsTable,
          direction: 'up',
          singleTransaction: false,
          advisoryLockMode: 'wait',
          // Schemas do not wait for each other.
          lockValue: lockOf(schema),
          ignorePattern: '(?!.*\\.sql$).*',
          migrationLoaderStrategies: [{ extensions: ['.sql'], loader: loadMigrations }],
          logger: { info: () => undefined, warn: warnOfTheUnexpected, error: console.error },
        }),
      )
    }
    await whileLocked(deadline, () => completeIndexes(sql, schema))
    await protectRecords(sql, schema)
  } finally {
    await sql.end()
  }
}

/** The modes of `sslmode` in which the services' driver takes any certificate. */
const UNVERIFIED = /^(require|allow|prefer)$/

/**
 * The server for the driver of migrations, with the TLS that `sql` has. By itself that driver prefers what the URL says
 * of TLS to its options, `DATABASE_CA` among them, and reads `sslmode` in another way.
 */
function withTlsOf({ options: { ssl } }: postgres.Sql, url: string) {
  const address = new URL(url)
  for (const name of ['ssl', 'sslmode']) address.searchParams.delete(name)
  const tls = typeof ssl === 'string' ? { rejectUnauthorized: !UNVERIFIED.test(ssl) } : ssl
  return { connectionString: address.href, ...(tls && { ssl: tls }) }
}

/** A number for a schema's advisory lock: one of its own. */
const lockOf = (schema: string): number => createHash('sha256').update(`migrate ${schema}`).digest().readUIntBE(0, 6)

/** A migration that runs without a transaction says so in its first line: it is meant to. */
function warnOfTheUnexpected(message: string): void {
  if (!message.includes('not wrapped in a transaction')) console.warn(message)
}

/** SQLSTATE of a lock that was not available in time, of a deadlock, and of a server that starts or stops. */
const TRANSIENT_CODES = new Set([
  '55P03',
  '40P01',
  '57P01',
  '57P02',
  '57P03',
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
])
const MAX_PAUSE_MS = 10_000

/** Runs `work` again, after growing pauses, while others hold its locks or the server is away. */
const whileLocked = (deadline: number, work: () => Promise<unknown>) =>
  retry(work, (error, failures) => {
    const isTransient = error instanceof Error && 'code' in error && TRANSIENT_CODES.has(String(error.code))
    if (!isTransient || performance.now() > deadline) return undefined
    return Math.min(100 * 2 ** failures, MAX_PAUSE_MS) * (0.5 + Math.random() / 2)
  })

/** Lets the service read the applied migrations, for its readiness probe, and not change them. */
async function protectRecords(sql: postgres.Sql, schema: string): Promise<void> {
  await inTransaction(sql, async (tx) => {
    // Concurrent changes of a table's privileges fail: "tuple concurrently updated".
    await tx`select pg_advisory_xact_lock(hashtextextended(${`migration records ${schema}`}, 0))`
    for (const table of Object.values(MIGRATION_TABLES)) {
      await tx`revoke insert, update, delete on ${tx(schema)}.${tx(table)} from ${tx(schema)}`
    }
  })
}
