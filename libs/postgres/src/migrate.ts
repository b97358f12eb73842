import { runner } from 'node-pg-migrate'
import postgres from 'postgres'
import { FOUNDATION_MIGRATIONS, MIGRATION_TABLES } from './migrations-applied.ts'
import { inTransaction } from './transaction.ts'

interface Migration {
  readonly url: string
  readonly schema: string
  readonly directory: string
}

/**
 * Brings a service's schema up to date: the foundation, which every service has, then the service's own migrations:
 * `NNNN_what.sql` files in `directory`, forward only. `url` connects as the migrating role. Replicas may run it at the
 * same time. Each migration is a recorded transaction, so an interrupted run can be repeated.
 */
export async function migrate({ url, schema, directory }: Migration): Promise<void> {
  for (const [migrationsTable, dir] of [
    [MIGRATION_TABLES.foundation, FOUNDATION_MIGRATIONS],
    [MIGRATION_TABLES.service, directory],
  ] as const) {
    await runner({
      databaseUrl: url,
      schema,
      dir,
      migrationsTable,
      direction: 'up',
      singleTransaction: false,
      advisoryLockMode: 'wait',
      ignorePattern: '(?!.*\\.sql$).*',
      logger: { info: () => undefined, warn: console.warn, error: console.error },
    })
  }
  await protectRecords(url, schema)
}

/** Lets the service read the applied migrations, for its readiness probe, and not change them. */
async function protectRecords(url: string, schema: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    await inTransaction(sql, async (tx) => {
      // Concurrent changes of a table's privileges fail: "tuple concurrently updated".
      await tx`select pg_advisory_xact_lock(hashtextextended(${`migration records ${schema}`}, 0))`
      for (const table of Object.values(MIGRATION_TABLES)) {
        await tx`revoke insert, update, delete on ${tx(schema)}.${tx(table)} from ${tx(schema)}`
      }
    })
  } finally {
    await sql.end()
  }
}
