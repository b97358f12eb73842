import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptyDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { passwordOf } from '@backoffice/testing/new-database.ts'
import postgres from 'postgres'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { migrate } from './migrate.ts'
import { migratorUrl, provision } from './provision.ts'
import { blockingStatements, contractingStatements } from './testing/migration-rules.ts'

const schema = 'catalog'
let database: Awaited<ReturnType<typeof emptyDatabase>>
let admin: postgres.Sql
let directory: string

beforeEach(async () => {
  database = await emptyDatabase()
  await provision(database.url, { schemas: [schema], passwordOf })
  admin = postgres(database.url, { max: 2, onnotice: () => undefined, connection: { search_path: schema } })
  directory = mkdtempSync(join(tmpdir(), 'migrations-'))
})

afterEach(async () => {
  vi.restoreAllMocks()
  await admin.end()
  await database.drop()
  rmSync(directory, { recursive: true })
})

const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
const run = (options = {}) => migrate({ url: migratorUrl(database.url, passwordOf), schema, directory, ...options })
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

it('a schema does not wait for the migration of another', async () => {
  const other = 'orders'
  await provision(database.url, { schemas: [other], passwordOf })
  const [slow, quick] = ['slow', 'quick'].map((name) => {
    const path = join(directory, name)
    mkdirSync(path)
    return path
  }) as [string, string]
  writeFileSync(join(slow, '0001_first.sql'), 'select pg_advisory_xact_lock(1);')
  writeFileSync(join(quick, '0001_first.sql'), 'create table thing (id integer);')
  const holder = await admin.reserve()
  await holder`select pg_advisory_lock(1)`
  const migrating = run({ directory: slow })
  await eventually('it waits', async () => {
    const [waiting] = await admin`
      select from pg_locks where locktype = 'advisory' and not granted and objid = 1
        and database = (select oid from pg_database where datname = current_database())`
    return waiting !== undefined
  })
  await run({ schema: other, directory: quick })
  await holder`select pg_advisory_unlock(1)`
  holder.release()
  await migrating
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

const A_TABLE = `
  create table thing (workspace_id uuid not null, id integer primary key, doubled integer);
  insert into thing values (uuidv7(), 1), (uuidv7(), 2);`

it.each([
  ['enable_workspace_rls', 'grant_worker'],
  ['wall_off', 'let_worker'], // as released migrations call them
])('has procedures that keep a table’s workspaces apart and let the worker role in: %s, %s', async (enable, grant) => {
  write('0001_first.sql', `${A_TABLE} call ${enable}('thing'); call ${grant}('select, update', 'thing');`)
  await run()
  const policies = await admin`select policyname, roles::text from pg_policies where tablename = 'thing' order by 1`
  expect(policies).toEqual([
    { policyname: 'worker', roles: '{catalog_worker}' },
    { policyname: 'workspace', roles: '{public}' },
  ])
  const [thing] = await admin`select relrowsecurity, relforcerowsecurity from pg_class where relname = 'thing'`
  expect(thing).toEqual({ relrowsecurity: true, relforcerowsecurity: true })
  const granted = await admin`
    select privilege_type from information_schema.role_table_grants where table_name = 'thing' and grantee = 'catalog_worker'
    order by 1`
  expect(granted.map((row) => row.privilege_type)).toEqual(['SELECT', 'UPDATE'])
})

it('backfills the rows of all workspaces, and only then: before and after, the owner sees none', async () => {
  const double = 'update thing set doubled = 2 * id'
  write('0001_first.sql', `${A_TABLE} call enable_workspace_rls('thing'); ${double};`)
  await run()
  expect(await admin`select doubled from thing order by id`).toEqual([{ doubled: null }, { doubled: null }])
  write('0002_second.sql', `call backfill($$ ${double}; update thing set id = -id; $$, 'thing');`)
  write('0003_third.sql', 'delete from thing;')
  await run()
  expect(await admin`select id, doubled from thing order by id desc`).toEqual([
    { id: -1, doubled: 2 },
    { id: -2, doubled: 4 },
  ])
})

const AN_INDEX = `
  -- without a transaction
  drop index concurrently if exists thing_by_name; -- left by a crash
  create unique index concurrently thing_by_name on thing (name);`.replaceAll(/^ {2}/gm, '')

it('builds an index without a transaction, beside writers, and waits longer for older transactions', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  write('0001_first.sql', 'create table thing (id integer, name text); insert into thing values (1, null);')
  await run()
  write('0002_second.sql', AN_INDEX)
  write(
    '0003_third.sql',
    "create table other (lock_timeout text default current_setting('lock_timeout')); insert into other default values;",
  )
  const writer = postgres(database.url, { max: 2, connection: { search_path: schema } })
  const { migrating } = await writer.begin(async (tx) => {
    await tx`update thing set id = 2`
    const migrating = run({ withinMs: 0 })
    const waitingLonger = () => admin`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%index concurrently%'
        and now() - query_start > interval '2.2 seconds'`
    await expect.poll(waitingLonger).toHaveLength(1)
    await writer`insert into thing values (3, 'by another writer')`
    return { migrating }
  })
  await migrating
  await writer.end()
  expect(await recorded()).toEqual(['0001_first', '0002_second', '0003_third'])
  expect(await admin`select indisvalid from pg_index where indexrelid = 'thing_by_name'::regclass`).toEqual([
    { indisvalid: true },
  ])
  expect(await admin`select * from other`).toEqual([{ lock_timeout: '2s' }])
})

it('builds an index again that a crash or a wrong row left half built', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  write('0001_first.sql', `create table thing (id integer, name text); insert into thing values (1, 'a'), (2, 'a');`)
  write('0002_second.sql', AN_INDEX)
  await expect(run()).rejects.toThrow('could not create unique index')
  expect(await recorded()).toEqual(['0001_first'])
  const isValid = () => admin`select indisvalid from pg_index where indexrelid = 'thing_by_name'::regclass`
  expect(await isValid()).toEqual([{ indisvalid: false }])
  await admin`delete from thing where id = 2`
  await run()
  expect(await isValid()).toEqual([{ indisvalid: true }])
})

it('changes a large table as CONTRIBUTING says: indexes, constraints, a column that is never null, partitions', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  write(
    '0001_first.sql',
    `create table thing (id integer, name text); insert into thing values (1, 'a');
     create table part (day date, id integer) partition by range (day);
     create table part_1 partition of part for values from ('2026-01-01') to ('2026-01-02');`,
  )
  await run()
  const steps = [
    `-- without a transaction
    drop index concurrently if exists thing_id; create unique index concurrently thing_id on thing (id);`,
    `alter table thing add constraint thing_id unique using index thing_id;
    -- contract: every replica writes it
    alter table thing add constraint named check (name is not null) not valid;
    create index part_id on only part (id);`,
    `-- without a transaction
    alter table thing validate constraint named;`,
    `-- contract: every replica writes it
    alter table thing alter column name set not null;
    create table part_2 partition of part for values from ('2026-01-02') to ('2026-01-03');`,
  ].map((text) => text.replaceAll(/^ +/gm, ''))
  expect(steps.flatMap((step) => [...blockingStatements(step), ...contractingStatements(step)])).toEqual([])
  for (const [step, text] of steps.entries()) write(`000${step + 2}_step.sql`, text)
  await run()
  expect(
    await admin`select conname, convalidated from pg_constraint where conrelid = 'thing'::regclass order by 1`,
  ).toMatchObject([
    { conname: 'named', convalidated: true },
    { conname: 'thing_id', convalidated: true },
    { conname: 'thing_name_not_null', convalidated: true },
  ])
  expect(await admin`select indisvalid from pg_index where indexrelid = 'part_id'::regclass`).toEqual([
    { indisvalid: true },
  ])
  expect(await admin`select tablename from pg_indexes where tablename like 'part%' order by 1`).toMatchObject([
    { tablename: 'part' },
    { tablename: 'part_1' },
    { tablename: 'part_2' },
  ])
})

it('gives up its wait for a lock, so that requests behind it go on, and tries again until it gets the lock', async () => {
  const complaints = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  write('0001_first.sql', 'create table thing (id integer);')
  await run()
  write('0002_second.sql', 'alter table thing add column name text;')
  const reader = postgres(database.url, { max: 1, connection: { search_path: schema } })
  const blocked = await reader.begin(async (tx) => {
    await tx`select from thing`
    await expect(run({ withinMs: 0 })).rejects.toMatchObject({ code: '55P03' })
    const migrating = run()
    const before = complaints.mock.calls.length
    await expect.poll(() => complaints.mock.calls.length).toBeGreaterThan(before)
    // As a transaction's result it would be awaited before the commit.
    return { migrating }
  })
  await blocked.migrating
  await reader.end()
  expect(await recorded()).toEqual(['0001_first', '0002_second'])
})

const PARTITIONED = `
  create table thing (id integer not null, name text) partition by range (id);
  create table thing_1 partition of thing for values from (0) to (10);
  create table thing_2 partition of thing for values from (10) to (20);
  insert into thing select n, n::text from generate_series(1, 19) as n;`
const AN_INDEX_OF_EACH = 'create index thing_by_name on only thing (name);'

const isWhole = async () =>
  (
    await admin`select bool_and(indisvalid) as is_whole, count(*)::integer as count from pg_index
    where indrelid::regclass::text like 'thing%'`
  )[0]

it('builds the index of each partition after its migration, beside writers', async () => {
  write('0001_first.sql', PARTITIONED)
  await run()
  write('0002_second.sql', AN_INDEX_OF_EACH)
  const writer = postgres(database.url, { max: 2, connection: { search_path: schema } })
  await writer
    .begin(async (tx) => {
      await tx`update thing_2 set name = 'x' where id = 15`
      const migrating = Promise.all([run(), run()])
      const building = () => admin`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query ilike '%index concurrently%'`
      await expect.poll(building).toHaveLength(1)
      await writer`insert into thing values (16, 'by another writer')`
      return { migrating }
    })
    .then(({ migrating }) => migrating)
  await writer.end()
  expect(await isWhole()).toEqual({ is_whole: true, count: 3 })
  await admin`create table thing_3 partition of thing for values from (20) to (30)`
  expect(await isWhole()).toEqual({ is_whole: true, count: 4 })
})

it('goes on with the indexes of partitions after a crash, whatever it left', async () => {
  write('0001_first.sql', `${PARTITIONED} ${AN_INDEX_OF_EACH} create index thing_1_thing_by_name on thing_1 (name);`)
  write(
    '0002_second.sql',
    '-- without a transaction\ncreate unique index concurrently thing_2_thing_by_name on thing_2 ((1));',
  )
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  await expect(run()).rejects.toThrow('could not create unique index')
  expect(await isWhole()).toEqual({ is_whole: false, count: 3 })
  write('0002_second.sql', '')
  await run()
  expect(await isWhole()).toEqual({ is_whole: true, count: 3 })
  const [{ definition }] = await admin<[{ definition: string }]>`
    select pg_get_indexdef('thing_2_thing_by_name'::regclass) as definition`
  expect(definition).toContain('(name)')
})
