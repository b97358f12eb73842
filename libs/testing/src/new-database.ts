import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { schemaOf } from '@backoffice/contracts/services.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, type PasswordOf, provision } from '@backoffice/postgres/provision.ts'
import postgres from 'postgres'

/** The password of a role in test databases. */
export const passwordOf: PasswordOf = (role) => `test-${role}`

/**
 * Creates a database: a copy of `template`, or an empty one. `serverUrl` connects as a superuser, and so does the `url`
 * of the database. `drop` disconnects its clients and drops it.
 */
export async function newDatabase(serverUrl: string, template = 'template1') {
  const onServer = async (run: (sql: postgres.Sql) => Promise<unknown>) => {
    const sql = postgres(serverUrl, { max: 1, onnotice: () => undefined })
    await run(sql)
    await sql.end()
  }
  const url = new URL(serverUrl)
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await onServer((sql) => sql`create database ${sql(name)} template ${sql(template)}`)
  url.pathname = name
  return { name, url: url.href, drop: () => onServer((sql) => sql`drop database ${sql(name)} with (force)`) }
}

/** Creates a database with the schema of a service, to be the template of others. */
export async function serviceTemplate(serverUrl: string, service: string) {
  const schema = schemaOf(service)
  const database = await newDatabase(serverUrl)
  await provision(database.url, { schemas: [schema], passwordOf })
  await migrate({
    url: migratorUrl(database.url, passwordOf),
    schema,
    directory: fileURLToPath(new URL(`../../../services/${service}/migrations`, import.meta.url)),
  })
  return database
}
