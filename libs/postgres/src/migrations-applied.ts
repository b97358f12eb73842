import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { retry } from '@backoffice/runtime/retry.ts'
import type { Database } from './database.ts'

/** The tables of a schema that record its applied migrations. */
export const MIGRATION_TABLES = { foundation: 'foundation_migration', service: 'migration' } as const

/** The directory of the migrations that every service has. */
export const FOUNDATION_MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

/** One look of so many is logged. */
const LOGGED_EVERY = 60
/** The pause before missing migrations are looked for again, in milliseconds. */
const AGAIN_AFTER_MS = 1000

/**
 * Starts once the schema has all migrations of this version of the service: what starts later knows no older schema.
 * The schema may have newer ones.
 */
export function migrationsApplied(db: Database, directory: string, logger: Pick<Logger, 'warn'>): Component {
  const missingOf = async (table: string, folder: string) => {
    const files = (await readdir(folder)).filter((file) => file.endsWith('.sql'))
    const rows = await db.sql<{ name: string }[]>`select name from ${db.sql(table)}`
    const applied = new Set(rows.map(({ name }) => name))
    return files.map((file) => file.replace(/\.sql$/, '')).filter((name) => !applied.has(name))
  }
  const check = async () => {
    const missing = [
      ...(await missingOf(MIGRATION_TABLES.foundation, FOUNDATION_MIGRATIONS)),
      ...(await missingOf(MIGRATION_TABLES.service, directory)),
    ]
    if (missing.length > 0) throw new Error(`migrations are missing: ${missing.toSorted().join(', ')}`)
  }
  let isStopping = false
  return {
    name: 'migrations',
    start: () =>
      retry(check, (error, failures) => {
        if (isStopping) return undefined
        if (failures % LOGGED_EVERY === 1) logger.warn({ err: error }, 'waits for the migrations of this version')
        return AGAIN_AFTER_MS
      }),
    async stop() {
      isStopping = true
    },
  }
}
