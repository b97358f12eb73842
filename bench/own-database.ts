import { join } from 'node:path'
import { schemaOf } from '@backoffice/contracts/services.ts'
import { serviceDirectory } from '@backoffice/local/services.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, type PasswordOf, provision } from '@backoffice/postgres/provision.ts'
import postgres from 'postgres'

/** Creates a database for the bench alone, migrated for one service. `serverUrl` connects as a superuser. */
export async function ownDatabase(serverUrl: string, service: string, passwordOf: PasswordOf) {
  const schema = schemaOf(service)
  const name = `bench_${schema}_${process.pid}`
  const url = new URL(serverUrl)
  url.pathname = name
  const onServer = async (run: (sql: postgres.Sql) => Promise<unknown>) => {
    const sql = postgres(serverUrl, { max: 1, onnotice: () => undefined })
    await run(sql)
    await sql.end()
  }
  await onServer((sql) => sql`create database ${sql(name)}`)
  await provision(url.href, { schemas: [schema], passwordOf })
  const directory = join(serviceDirectory(service), 'migrations')
  await migrate({ url: migratorUrl(url.href, passwordOf), schema, directory })
  return { url: url.href, drop: () => onServer((sql) => sql`drop database ${sql(name)} with (force)`) }
}
