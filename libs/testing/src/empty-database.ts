import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { parts } from './parts.ts'

/** A database of one test's own on the test server; `drop` ends whoever is still connected to it. */
export interface EmptyDatabase {
  /** Connects as a superuser. */
  readonly url: string
  drop(): Promise<void>
}

/** Creates an empty database. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  const url = new URL(parts().postgresUrl)
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await onServer((sql) => sql`create database ${sql(name)}`)
  url.pathname = name
  return { url: url.href, drop: () => onServer((sql) => sql`drop database ${sql(name)} with (force)`) }
}

async function onServer(run: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(parts().postgresUrl, { max: 1, onnotice: () => undefined })
  await run(sql)
  await sql.end()
}
