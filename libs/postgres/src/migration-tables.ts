import { fileURLToPath } from 'node:url'

/** Where a schema records which migrations it has: those every service comes with, and the service's own. */
export const MIGRATION_TABLES = { foundation: 'foundation_migration', service: 'migration' } as const

/** The migrations every service comes with. */
export const FOUNDATION_MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))
