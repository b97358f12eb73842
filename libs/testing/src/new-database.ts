import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { schemaOf } from '@backoffice/contracts/services.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, type PasswordOf, provision } from '@backoffice/postgres/provision.ts'
import postgres from 'postgres'

/** The password of a role in test databases. */
export const passwordOf: PasswordOf = (role) => `test-${role}`

const superusers = new Map<string, postgres.Sql>()

/** A client of the server for all files of a worker: one drops its database before the next one creates its own. */
function superuserOf(serverUrl: string): postgres.Sql {
  const known = superusers.get(serverUrl)
  if (known) return known
  const sql = postgres(serverUrl, { idle_timeout: 5, prepare: false, onnotice: () => undefined })
  superusers.set(serverUrl, sql)
  return sql
}

/**
 * Creates a database: a copy of `template`, or an empty one. `serverUrl` connects as a superuser, and so does the `url`
 * of the database. `drop` disconnects its clients and drops it.
 */
export async function newDatabase(serverUrl: string, template = 'template1') {
  const sql = superuserOf(serverUrl)
  const url = new URL(serverUrl)
  const name = `test_${randomUUID().replaceAll('-', '')}`
  // Files that are copied cost half of pages that are logged one by one.
  await sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`
  url.pathname = name
  return { name, url: url.href, drop: async () => void (await sql`drop database ${sql(name)} with (force)`) }
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
