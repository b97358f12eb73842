import { runner } from 'node-pg-migrate'
import postgres from 'postgres'
import { FOUNDATION_MIGRATIONS, MIGRATION_TABLES } from './migration-tables.ts'
import { inTransaction } from './transaction.ts'

export interface Migration {
  /** Connects as the migrating role. */
  readonly url: string
  readonly schema: string
  /** The service's own `NNNN_what.sql` files, forward only. */
  readonly directory: string
}

/**
 * Brings a service's schema up to date: the tables every service has, then its own. Runs from several replicas at once
 * wait for each other. Each migration is its own transaction and is recorded, so a run that broke off goes on.
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

/** The service may read what was applied (its readiness probe does) and not change it. */
async function protectRecords(url: string, schema: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    await inTransaction(sql, async (tx) => {
      // Two who change the privileges of a table at once fail: "tuple concurrently updated".
      await tx`select pg_advisory_xact_lock(hashtextextended(${`migration records ${schema}`}, 0))`
      for (const table of Object.values(MIGRATION_TABLES)) {
        await tx`revoke insert, update, delete on ${tx(schema)}.${tx(table)} from ${tx(schema)}`
      }
    })
  } finally {
    await sql.end()
  }
}
