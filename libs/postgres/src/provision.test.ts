import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { emptyDatabase } from '@backoffice/testing/database.ts'
import { passwordOf } from '@backoffice/testing/new-database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import postgres from 'postgres'
import { afterAll, expect, it } from 'vitest'
import { openDatabase } from './database.ts'
import { isUnavailable } from './postgres-errors.ts'
import { MIGRATOR, migratorUrl, provision, roleUrl } from './provision.ts'

// Roles belong to the whole server, so these are of this file alone; the migrator is everybody's and keeps its
// password.
const [alpha, beta] = ['alpha', 'beta'].map((name) => `${name}_${randomUUID().slice(0, 8)}`) as [string, string]
const databases = await Promise.all(Array.from({ length: 14 }, emptyDatabase))
const url = databases[0]?.url ?? ''

async function as<Result>(
  role: string,
  use: (sql: postgres.Sql) => Promise<Result>,
  passwords = passwordOf,
): Promise<Result> {
  const sql = postgres(roleUrl(url, role, passwords), { max: 1, onnotice: () => undefined })
  return use(sql).finally(() => sql.end())
}
const asMigrator = <Result>(use: (sql: postgres.Sql) => Promise<Result>) => as('backoffice_migrator', use)

afterAll(async () => {
  const roles = [alpha, `${alpha}_worker`, beta, `${beta}_worker`]
  for (const database of databases) {
    const admin = postgres(database.url, { max: 1, onnotice: () => undefined })
    for (const role of roles) await admin`drop owned by ${admin(role)}`
    if (database === databases.at(-1)) for (const role of roles) await admin`drop role ${admin(role)}`
    await admin.end()
  }
  await Promise.all(databases.map(({ drop }) => drop()))
})

it('can run again, and from several places and in several databases at once', async () => {
  // Runs in one database wait for each other; those in several clash in the roles, which are the server's.
  const runs = [...databases, ...databases.slice(0, 2)]
  await Promise.all(runs.map((database) => provision(database.url, { schemas: [alpha, beta], passwordOf })))
  await provision(url, { schemas: [alpha], passwordOf })
  expect(await as(alpha, (sql) => sql`select current_user as name`)).toEqual([{ name: alpha }])
})

it('makes each role look into its schema, bounds its statements and its idle transactions, and compiles none', async () => {
  for (const role of [alpha, `${alpha}_worker`]) {
    const [settings] = await as(
      role,
      (sql) => sql`
        select current_schema() as schema, current_setting('statement_timeout') as statement,
          current_setting('idle_in_transaction_session_timeout') as idle, current_setting('jit') as jit`,
    )
    expect(settings).toEqual({ schema: alpha, statement: '30s', idle: '30s', jit: 'off' })
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

it('gives each role a password of its own, which opens no other', async () => {
  for (const role of [`${alpha}_worker`, beta, 'backoffice_migrator']) {
    const withAnother = as(
      role,
      (sql) => sql`select`,
      () => passwordOf(alpha),
    )
    await expect(withAnother, role).rejects.toMatchObject({ code: '28P01' })
    expect(await as(role, (sql) => sql`select`)).toHaveLength(1)
  }
})

it('gives roles that are there the password given', async () => {
  const roles = [beta, `${beta}_worker`]
  const admin = postgres(url, { max: 1 })
  for (const role of roles) await admin.unsafe(`alter role ${role} password 'old'`)
  await admin.end()
  await provision(url, { schemas: [beta], passwordOf })
  for (const role of roles) {
    await expect(
      as(
        role,
        (sql) => sql`select`,
        () => 'old',
      ),
    ).rejects.toMatchObject({ code: '28P01' })
    expect(await as(role, (sql) => sql`select`)).toHaveLength(1)
  }
})

it('a new password ends no open connection; a pool with the old one opens no further connection, and works on', async () => {
  const db = openDatabase({ url: roleUrl(url, alpha, passwordOf), applicationName: 'rotation', poolSize: 2 })
  whenDone(() => db.stop?.())
  const backend = () => db.sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const before = await backend()
  const newPasswordOf = (role: string) => (role === MIGRATOR ? passwordOf(role) : `new-${role}`)
  await provision(url, { schemas: [alpha], passwordOf: newPasswordOf })

  expect(await backend()).toEqual(before)
  await db.sql.begin(async () => {
    const further: unknown = await backend().catch((error) => error)
    expect(further).toMatchObject({ code: '28P01' })
    // Requests are answered with 503, and consumers try again.
    expect(isUnavailable(further)).toBe(true)
  })
  expect(await backend()).toEqual(before)
  expect(await as(alpha, (sql) => sql`select`, newPasswordOf)).toHaveLength(1)
  await provision(url, { schemas: [alpha], passwordOf })
})

it('sends no password of a role to the server, whose log may have it', async () => {
  const { hostname, port } = new URL(url)
  let sent = ''
  const between = createServer((client) => {
    client.on('data', (bytes) => (sent += bytes.toString('latin1')))
    const server = connect(Number(port), hostname)
    client.pipe(server).pipe(client)
    for (const socket of [client, server]) socket.on('error', () => undefined)
  })
  await once(between.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => void between.close())
  const address = new URL(url)
  address.host = `127.0.0.1:${(between.address() as AddressInfo).port}`
  await provision(address.href, { schemas: [alpha], passwordOf })
  expect(sent).toContain(`alter role ${alpha}_worker`)
  for (const role of [alpha, `${alpha}_worker`, MIGRATOR]) expect(sent).not.toContain(passwordOf(role))
  expect(await as(alpha, (sql) => sql`select`)).toHaveLength(1)
})

it('fails where it may not make roles', async () => {
  await expect(provision(migratorUrl(url, passwordOf), { schemas: [alpha], passwordOf })).rejects.toMatchObject({
    code: '42501',
  })
})

it('writes any password into a URL so that it is read again', () => {
  const given = new URL(roleUrl('postgres://postgres:x@db:5432/shop?sslmode=require', 'catalog', () => "p@s/s:%'?#"))
  expect(decodeURIComponent(given.password)).toBe("p@s/s:%'?#")
  expect([given.username, given.host, given.pathname, given.search]).toEqual([
    'catalog',
    'db:5432',
    '/shop',
    '?sslmode=require',
  ])
})

it('works for the owner of the database who may create roles, as on managed servers, and again', async () => {
  const database = await emptyDatabase()
  const name = `owner_${randomUUID().slice(0, 8)}`
  const admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  await admin.unsafe(`create role ${name} login createrole password 'of-the-owner'`)
  await admin`alter database ${admin(database.name)} owner to ${admin(name)}`
  // As if it had made the migrating role.
  await admin`grant backoffice_migrator to ${admin(name)} with admin true, inherit false, set false`
  const ownerUrl = roleUrl(database.url, name, () => 'of-the-owner')
  const schema = `${name}_schema`
  await provision(ownerUrl, { schemas: [schema], passwordOf })
  await provision(ownerUrl, { schemas: [schema], passwordOf })
  const asRole = postgres(roleUrl(database.url, schema, passwordOf), { max: 1 })
  expect(await asRole`select current_schema() as name`).toEqual([{ name: schema }])
  await asRole.end()
  await admin.end()
  await database.drop()
  const server = postgres(url, { max: 1, onnotice: () => undefined })
  await server.unsafe(`revoke backoffice_migrator from ${name} granted by ${name} cascade`).catch(() => undefined)
  await server.unsafe(`drop role ${schema}, ${schema}_worker; drop owned by ${name}; drop role ${name}`)
  await server.end()
})
