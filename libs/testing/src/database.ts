import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type Database, openDatabase } from '@backoffice/postgres/database.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, provision, roleUrl } from '@backoffice/postgres/provision.ts'
import postgres from 'postgres'
import { afterAll } from 'vitest'
import { parts } from './parts.ts'

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
  const url = await createDatabase()
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
    await dropDatabase(url)
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

async function createDatabase(): Promise<string> {
  const url = new URL(parts().postgresUrl)
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await onServer((sql) => sql`create database ${sql(name)}`)
  url.pathname = name
  return url.href
}

const dropDatabase = (url: string) =>
  onServer((sql) => sql`drop database ${sql(new URL(url).pathname.slice(1))} with (force)`)

async function onServer(run: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(parts().postgresUrl, { max: 1, onnotice: () => undefined })
  await run(sql)
  await sql.end()
}
