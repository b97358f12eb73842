import { fileURLToPath } from 'node:url'
import { type Database, openDatabase } from '@backoffice/postgres/database.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, provision, roleUrl } from '@backoffice/postgres/provision.ts'
import postgres from 'postgres'
import { afterAll } from 'vitest'
import { emptyDatabase } from './empty-database.ts'

const PASSWORD = 'test'

/** A service's database of one test file: empty, migrated, dropped when the file is done. */
export interface TestDatabase {
  /** Connects as a superuser, who sees every workspace's rows. */
  readonly admin: postgres.Sql
  /** Connects as the service's app role. */
  readonly db: Database
  readonly appUrl: string
  readonly workerUrl: string
  /** Statements sent through `db` since the last `takeStatements`, transaction control included. */
  takeStatements(): string[]
}

/** Creates a database for the calling test file with the named service's schema, e.g. `webhook-delivery`. */
export async function testDatabase(service: string): Promise<TestDatabase> {
  const schema = service.replaceAll('-', '_')
  const { url, drop } = await emptyDatabase()
  await provision(url, { schemas: [schema], password: PASSWORD })
  await migrate({
    url: migratorUrl(url, PASSWORD),
    schema,
    directory: fileURLToPath(new URL(`../../../services/${service}/migrations`, import.meta.url)),
  })
  let statements: string[] = []
  const appUrl = roleUrl(url, schema, PASSWORD)
  const db = openDatabase({ url: appUrl, applicationName: 'test', onStatement: (text) => statements.push(text) })
  const admin = postgres(url, { max: 2, onnotice: () => undefined, connection: { search_path: schema } })
  afterAll(async () => {
    await db.stop?.()
    await admin.end()
    await drop()
  })
  return {
    admin,
    db,
    appUrl,
    workerUrl: roleUrl(url, `${schema}_worker`, PASSWORD),
    takeStatements: () => {
      const taken = statements
      statements = []
      return taken
    },
  }
}
