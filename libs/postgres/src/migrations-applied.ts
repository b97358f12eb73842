import { readdir } from 'node:fs/promises'
import type { Part } from '@backoffice/runtime/process.ts'
import type { Database } from './database.ts'
import { FOUNDATION_MIGRATIONS, MIGRATION_TABLES } from './migration-tables.ts'

/** Ready once the schema has every migration this version of the service comes with; newer ones do no harm. */
export function migrationsApplied(db: Database, directory: string): Part {
  const isApplied = async (table: string, folder: string) => {
    const files = (await readdir(folder)).filter((file) => file.endsWith('.sql'))
    const applied = new Set(
      (await db.sql<{ name: string }[]>`select name from ${db.sql(table)}`).map(({ name }) => name),
    )
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
