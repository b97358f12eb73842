import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Database } from './database.ts'

/** The tables of a schema that record its applied migrations. */
export const MIGRATION_TABLES = { foundation: 'foundation_migration', service: 'migration' } as const

/** The directory of the migrations that every service has. */
export const FOUNDATION_MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

/** Ready once the schema has all migrations of this version of the service. The schema may have newer ones. */
export function migrationsApplied(db: Database, directory: string): Component {
  const isApplied = async (table: string, folder: string) => {
    const files = (await readdir(folder)).filter((file) => file.endsWith('.sql'))
    const rows = await db.sql<{ name: string }[]>`select name from ${db.sql(table)}`
    const applied = new Set(rows.map(({ name }) => name))
    return files.every((file) => applied.has(file.replace(/\.sql$/, '')))
  }
  let areApplied = false
  return {
    name: 'migrations',
    async isReady() {
      areApplied ||=
        (await isApplied(MIGRATION_TABLES.foundation, FOUNDATION_MIGRATIONS)) &&
        (await isApplied(MIGRATION_TABLES.service, directory))
      return areApplied
    },
  }
}
