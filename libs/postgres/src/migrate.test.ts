import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptyDatabase } from '@backoffice/testing/empty-database.ts'
import postgres from 'postgres'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { migrate } from './migrate.ts'
import { migratorUrl, provision } from './provision.ts'

const PASSWORD = 'test'
const schema = 'catalog'
let database: Awaited<ReturnType<typeof emptyDatabase>>
let admin: postgres.Sql
let directory: string

beforeEach(async () => {
  database = await emptyDatabase()
  await provision(database.url, { schemas: [schema], password: PASSWORD })
  admin = postgres(database.url, { max: 1, onnotice: () => undefined, connection: { search_path: schema } })
  directory = mkdtempSync(join(tmpdir(), 'migrations-'))
})

afterEach(async () => {
  vi.restoreAllMocks()
  await admin.end()
  await database.drop()
  rmSync(directory, { recursive: true })
})

const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
const run = () => migrate({ url: migratorUrl(database.url, PASSWORD), schema, directory })
const recorded = async () => (await admin`select name from migration order by id`).map(({ name }) => name)

it('brings the tables every service has, then the service’s own, in the order of their numbers', async () => {
  write('0002_second.sql', 'alter table thing add column name text; insert into thing values (2, current_schema());')
  write('0001_first.sql', 'create table thing (id integer); insert into thing values (1);')
  write('README.md', 'no migration')
  await run()
  expect(await recorded()).toEqual(['0001_first', '0002_second'])
  expect(await admin`select * from thing order by id`).toEqual([
    { id: 1, name: null },
    { id: 2, name: schema },
  ])
  expect(await admin`select from outbox`).toHaveLength(0)
})

it('does nothing twice, also when several replicas start at once', async () => {
  write('0001_first.sql', 'create table thing (id integer); insert into thing values (1);')
  await Promise.all([run(), run(), run()])
  await run()
  expect(await recorded()).toEqual(['0001_first'])
  expect(await admin`select from thing`).toHaveLength(1)
})

it('keeps nothing of a migration that broke off, all of those before it, and goes on from there', async () => {
  const told = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  write('0001_first.sql', 'create table thing (id integer);')
  write('0002_second.sql', 'insert into thing values (2); select 1 / 0;')
  write('0003_third.sql', 'insert into thing values (3);')
  await expect(run()).rejects.toThrow('division by zero')
  expect(told).toHaveBeenCalled()
  expect(await recorded()).toEqual(['0001_first'])
  expect(await admin`select from thing`).toHaveLength(0)

  write('0002_second.sql', 'insert into thing values (2);')
  await run()
  expect(await recorded()).toEqual(['0001_first', '0002_second', '0003_third'])
  expect(await admin`select id from thing order by id`).toEqual([{ id: 2 }, { id: 3 }])
})

it('adds a later migration to a schema that is in use', async () => {
  await run()
  write('0001_first.sql', 'create table thing (id integer);')
  await run()
  expect(await recorded()).toEqual(['0001_first'])
})
