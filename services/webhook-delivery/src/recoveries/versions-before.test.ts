import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, provision, roleUrl } from '@backoffice/postgres/provision.ts'
import { emptyDatabase } from '@backoffice/testing/database.ts'
import { passwordOf } from '@backoffice/testing/new-database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, it } from 'vitest'

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url))
const WORKSPACE = '00000000-0000-7000-8000-000000000001'
const [ENDPOINT, OTHER] = ['00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000003']
/** The beginnings of hours of one day. */
const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour))

let admin: Sql
/** A replica of the version before, as the app role of the workspace. */
let replica: Sql
let migrateFurther: () => Promise<void>

/** As the version before starts a recovery. */
const insertRecovery = (sql: Sql, endpointId: string, since: Date, until: Date) => sql`
  insert into recovery (workspace_id, id, endpoint_id, since, until, after_id)
  select workspace_id, uuidv7(), id, ${since}, ${until}, least_id(${since}) from endpoint
  where workspace_id = ${WORKSPACE} and id = ${endpointId}
  returning endpoint_id`

const recoveries = () => admin`
  select endpoint_id, status, since, until, after_id, deliveries from recovery order by endpoint_id`

/** What `least_id` is of the beginning of an hour. */
const idAt = (hour: number) =>
  at(hour)
    .getTime()
    .toString(16)
    .padStart(12, '0')
    .padEnd(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/** A database of the version before, with two endpoints of which one has failed deliveries of two hours. */
beforeEach(async () => {
  const { url, drop } = await emptyDatabase()
  await provision(url, { schemas: ['webhook_delivery'], passwordOf })
  const before = mkdtempSync(join(tmpdir(), 'migrations-'))
  cpSync(MIGRATIONS, before, { recursive: true, filter: (path) => !/(001[4-9]|00[2-9]\d)_/.test(path) })
  const migrateFrom = (directory: string) =>
    migrate({ url: migratorUrl(url, passwordOf), schema: 'webhook_delivery', directory })
  await migrateFrom(before)
  migrateFurther = () => migrateFrom(MIGRATIONS)
  const settings = { search_path: 'webhook_delivery', 'app.workspace_id': WORKSPACE }
  const connect = (asRole: string) =>
    openDatabase({ url: asRole, applicationName: 'versions before', poolSize: 1, settings })
  const [superuser, app] = [connect(url), connect(roleUrl(url, 'webhook_delivery', passwordOf))]
  admin = superuser.sql
  replica = app.sql
  whenDone(async () => {
    await Promise.all([superuser.stop?.(), app.stop?.()])
    await drop()
    rmSync(before, { recursive: true })
  })
  await admin`
    insert into endpoint (workspace_id, id, url, enabled_events, secret_key_id, sealed_secret, created_at, updated_at)
    select ${WORKSPACE}, id, 'https://receiver.example/', '{*}', 'test', '', now(), now()
    from unnest(${[ENDPOINT, OTHER]}::uuid[]) as id`
  await admin`
    insert into hourly_delivery_count (workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries)
    select ${WORKSPACE}, ${ENDPOINT}, hour, '2026-03-01', 'tag.created', 'FAILED', 0, deliveries
    from (values (${at(3)}::timestamptz, 30), (${at(8)}::timestamptz, 8)) as counted (hour, deliveries)`
})

it('the migration makes one recovery of those that an endpoint has, which does what is left of all', async () => {
  await insertRecovery(replica, ENDPOINT, at(5), at(9))
  await insertRecovery(replica, ENDPOINT, at(2), at(10))
  await admin`update recovery set after_id = least_id(${at(6)}) where since = ${at(2)}`
  await insertRecovery(replica, ENDPOINT, at(6), at(11))
  await insertRecovery(replica, OTHER, at(7), at(12))
  await migrateFurther()
  expect(await recoveries()).toEqual([
    { endpoint_id: ENDPOINT, status: 'RUNNING', since: at(2), until: at(11), after_id: idAt(5), deliveries: 38 },
    { endpoint_id: OTHER, status: 'RUNNING', since: at(7), until: at(12), after_id: idAt(7), deliveries: 0 },
  ])
})

it('what a replica of an older version had claimed is free', async () => {
  const [EVENT, DELIVERY] = ['00000000-0000-7000-8000-000000000004', '00000000-0000-7000-8000-000000000005']
  await admin`
    insert into delivery (
      workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at, claimed_by, lease_until
    ) values (${WORKSPACE}, ${ENDPOINT}, ${DELIVERY}, ${EVENT}, 'tag.created', now(), now(), 7, now())`
  await admin`
    insert into fan_out_backlog (workspace_id, event_id, endpoint_ids, deliveries, bytes, claimed_by)
    values (${WORKSPACE}, ${EVENT}, ${[ENDPOINT]}::uuid[], 1, 2, 7)`
  await migrateFurther()
  expect(await admin`select id from delivery where due_at is not null and claimed_by is null`).toEqual([
    { id: DELIVERY },
  ])
  expect(await admin`select event_id from fan_out_backlog where claimed_by is null`).toEqual([{ event_id: EVENT }])
})

it('counts of the time before 0011 are added to those of today', async () => {
  await admin`
    insert into delivery_count_before (workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries)
    values (${WORKSPACE}, ${ENDPOINT}, ${at(3)}, '2026-03-01', 'tag.created', 'FAILED', 0, 5)`
  await migrateFurther()
  const counts = await admin`select hour, deliveries from hourly_delivery_count order by hour`
  expect(counts).toEqual([
    { hour: at(3), deliveries: 35 },
    { hour: at(8), deliveries: 8 },
  ])
})
