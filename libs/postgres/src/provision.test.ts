import { randomUUID } from 'node:crypto'
import { emptyDatabase } from '@backoffice/testing/database.ts'
import postgres from 'postgres'
import { afterAll, expect, it } from 'vitest'
import { migratorUrl, provision, roleUrl } from './provision.ts'

// Roles belong to the whole server, so these are of this file alone; the migrator is everybody's and keeps its password.
const PASSWORD = 'test'
const [alpha, beta] = ['alpha', 'beta'].map((name) => `${name}_${randomUUID().slice(0, 8)}`) as [string, string]
const databases = await Promise.all([emptyDatabase(), emptyDatabase()])
const url = databases[0].url

async function as<Result>(
  role: string,
  use: (sql: postgres.Sql) => Promise<Result>,
  password = PASSWORD,
): Promise<Result> {
  const sql = postgres(roleUrl(url, role, password), { max: 1, onnotice: () => undefined })
  return use(sql).finally(() => sql.end())
}
const asMigrator = <Result>(use: (sql: postgres.Sql) => Promise<Result>) => as('backoffice_migrator', use)

afterAll(async () => {
  const roles = [alpha, `${alpha}_worker`, beta, `${beta}_worker`]
  for (const database of databases) {
    const admin = postgres(database.url, { max: 1, onnotice: () => undefined })
    for (const role of roles) await admin`drop owned by ${admin(role)}`
    if (database === databases[1]) for (const role of roles) await admin`drop role ${admin(role)}`
    await admin.end()
  }
  await Promise.all(databases.map(({ drop }) => drop()))
})

it('can run again, and from several places and in several databases at once', async () => {
  const runs = databases.flatMap((database) => [database, database, database])
  await Promise.all(runs.map((database) => provision(database.url, { schemas: [alpha, beta], password: PASSWORD })))
  await provision(url, { schemas: [alpha], password: PASSWORD })
  expect(await as(alpha, (sql) => sql`select current_user as name`)).toEqual([{ name: alpha }])
})

it('makes each role look into its schema, and bounds its statements and its idle transactions', async () => {
  for (const role of [alpha, `${alpha}_worker`]) {
    const [settings] = await as(
      role,
      (sql) => sql`
        select current_schema() as schema, current_setting('statement_timeout') as statement,
          current_setting('idle_in_transaction_session_timeout') as idle`,
    )
    expect(settings).toEqual({ schema: alpha, statement: '30s', idle: '30s' })
  }
})

it('makes what the migrator creates the app role’s to write, and nobody else’s', async () => {
  await asMigrator((sql) => sql`create table ${sql(alpha)}.thing (id integer)`)
  await as(alpha, (sql) => sql`insert into thing values (1)`)
  const read = (sql: postgres.Sql) => sql`select id from ${sql(alpha)}.thing`
  expect(await as(alpha, read)).toEqual([{ id: 1 }])
  for (const role of [`${alpha}_worker`, beta, `${beta}_worker`]) {
    await expect(as(role, read), role).rejects.toMatchObject({ code: '42501' })
  }
})

it('lets no app role change its schema', async () => {
  for (const role of [alpha, `${alpha}_worker`]) {
    const create = as(role, (sql) => sql`create table ${sql(alpha)}.own (id integer)`)
    await expect(create).rejects.toMatchObject({ code: '42501' })
    await expect(as(role, (sql) => sql`drop table thing`)).rejects.toMatchObject({ code: '42501' })
  }
})

it('gives roles that are there the password given', async () => {
  const roles = [beta, `${beta}_worker`]
  const admin = postgres(url, { max: 1 })
  for (const role of roles) await admin.unsafe(`alter role ${role} password 'old'`)
  await admin.end()
  await provision(url, { schemas: [beta], password: PASSWORD })
  for (const role of roles) {
    await expect(as(role, (sql) => sql`select`, 'old')).rejects.toMatchObject({ code: '28P01' })
    expect(await as(role, (sql) => sql`select`)).toHaveLength(1)
  }
})

it('fails where it may not make roles', async () => {
  await expect(provision(migratorUrl(url, PASSWORD), { schemas: [alpha], password: PASSWORD })).rejects.toMatchObject({
    code: '42501',
  })
})

it('writes any password into a URL so that it is read again', () => {
  const given = new URL(roleUrl('postgres://postgres:x@db:5432/shop?sslmode=require', 'catalog', "p@s/s:%'?#"))
  expect(decodeURIComponent(given.password)).toBe("p@s/s:%'?#")
  expect([given.username, given.host, given.pathname, given.search]).toEqual([
    'catalog',
    'db:5432',
    '/shop',
    '?sslmode=require',
  ])
})
