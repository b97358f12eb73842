import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'

/** Tables every service with an outbox or idempotent writes has; see libs/postgres/migrations. */
const FOUNDATION = fileURLToPath(new URL('../migrations', import.meta.url))

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
    ['foundation_migration', FOUNDATION],
    ['migration', directory],
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
}
