import { randomUUID } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { failuresOf } from '@backoffice/runtime/worker-failures.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'
import { dailyPartitions, maintainPartitions } from './daily-partitions.ts'

const { admin, workerUrl, send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const { publish } = await startReplica()
const workerDb = openDatabase({ url: workerUrl, applicationName: 'worker', poolSize: 5, settings: PLAN_ONCE_BY_KEYS })
const worker = workerDb.sql
afterAll(() => workerDb.stop?.())

const lines: unknown[] = []
const logger: Logger = Object.assign(createLogger('test', 'silent'), { warn: (line: unknown) => void lines.push(line) })
const maintainOnce = () => maintainPartitions(worker, logger)

/** Runs `work` again while a statement of the replica holds the lock that it needs: it waits 0.1 s for that. */
async function untilUnlocked(work: () => Promise<void>): Promise<void> {
  for (;;) {
    const error = await work().catch((error: { code?: string }) => error)
    if (error?.code !== '55P03') return error === undefined ? undefined : Promise.reject(error)
  }
}

const maintain = () => untilUnlocked(maintainOnce)

/** Does `work` while the worker that maintains the partitions runs. */
async function whileUpkeepRuns(work: () => Promise<unknown>): Promise<void> {
  const upkeep = dailyPartitions(worker, logger)
  await upkeep.start()
  await work().finally(upkeep.stop)
}

const TABLES = ['event', 'delivery', 'attempt']
const DAY_MS = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS)
const dayOf = (at: Date) => at.toISOString().slice(0, 10).replaceAll('-', '')

const partitionsOf = async (table: string): Promise<string[]> => {
  const rows = await admin<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = ${table}::regclass order by 1`
  return rows.map(({ name }) => name)
}

const hasDay = async (at: Date): Promise<boolean[]> =>
  Promise.all(TABLES.map(async (table) => (await partitionsOf(table)).includes(`${table}_${dayOf(at)}`)))

const totalOf = async (...[caller, endpoint, query = '']: [Parameters<typeof send>[0], { id: string }, string?]) =>
  (await send<{ total: number }>(caller, 'GET', `/v1/webhooks/${endpoint.id}/deliveries?limit=1${query}`)).body.total

const rowsOf = async (table: string, workspaceId: string): Promise<number> => {
  const [row] = await admin`select count(*)::integer as n from ${admin(table)} where workspace_id = ${workspaceId}`
  return row?.n
}

/** An endpoint whose deliveries are all made: one for each event. */
async function delivered(eventIds: readonly string[]) {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  await publish(...eventIds.map((id) => anEvent(caller, { id })))
  await eventually('all are delivered', async () => {
    const deliveries = await deliveriesOf(caller, endpoint)
    return deliveries.length === eventIds.length && deliveries.every(({ status }) => status === 'DELIVERED')
  })
  return { caller, endpoint }
}

/** The partitions of a day, as the owner of the tables makes them. */
const addDay = (at: Date) =>
  untilUnlocked(() =>
    admin.begin(async (tx) => {
      await tx`set local role backoffice_migrator`
      await tx`
        select add_partition(parent, ${at.toISOString().slice(0, 10)}::date) from unnest(${TABLES}::text[]) as parent
        where to_regclass(parent || ${`_${dayOf(at)}`}) is null`
    }),
  )

/** An endpoint with a delivery of some days ago, and its attempt. */
async function aDaysAgo(days: number, status: 'PENDING' | 'DELIVERED' = 'DELIVERED') {
  await addDay(inDays(-days))
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  const [id, eventId] = [uuidv7({ msecs: inDays(-days).getTime() }), uuidv7({ msecs: inDays(-days).getTime() })]
  await admin`
    insert into event (workspace_id, id, type, key, body, occurred_at)
    values (${caller.workspaceId}, ${eventId}, 'tag.created', '', '{}', uuid_extract_timestamp(${eventId}::uuid))`
  await admin`
    insert into attempt (workspace_id, delivery_id, number, started_at, duration_ms, request_url, request_headers)
    values (${caller.workspaceId}, ${id}, 1, uuid_extract_timestamp(${id}::uuid), 1, 'https://example.com', '{}')`
  await admin`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, attempts_made, next_attempt_at, created_at)
    values (
      ${caller.workspaceId}, ${endpoint.id}, ${id}, ${eventId}, 'tag.created', ${status}, 1,
      ${status === 'PENDING' ? inDays(1) : null}, uuid_extract_timestamp(${id}::uuid)
    )`
  return { caller, endpoint, id }
}

describe('partitions to come', () => {
  test('a day’s events, deliveries and attempts are in a partition of that day, and there is one for each day of the week to come', async () => {
    await maintain()
    const { caller } = await delivered([uuidv7()])
    for (const table of TABLES) {
      expect(await rowsOf(`${table}_${dayOf(new Date())}`, caller.workspaceId)).toBe(1)
      const days = Array.from({ length: 9 }, (_, index) => `${table}_${dayOf(inDays(index - 1))}`)
      // Yesterday's is kept when a day ends between the migration and this.
      const found = (await partitionsOf(table)).filter((name) => name >= (days[0] ?? ''))
      const ofNoDay = table === 'attempt' ? ['attempt_default'] : [`${table}_default`, `${table}_far`]
      expect(found).toEqual([...days, ...ofNoDay])
    }
  })

  test('what is missing is added, however many days that is', async () => {
    for (const table of TABLES) {
      for (const days of [5, 6, 7]) await admin`drop table ${admin(`${table}_${dayOf(inDays(days))}`)}`
    }
    await maintain()
    for (const days of [5, 6, 7]) expect(await hasDay(inDays(days))).toEqual([true, true, true])
  })

  test('an id that only looks like one of a day to come moves to that day’s partition when it is made', async () => {
    const id = uuidv7({ msecs: inDays(60).getTime() })
    const { caller, endpoint } = await delivered([id])
    expect(await rowsOf('delivery_default', caller.workspaceId)).toBe(1)
    await addDay(inDays(60))
    expect(await rowsOf('delivery_default', caller.workspaceId)).toBe(0)
    expect(await rowsOf(`delivery_${dayOf(inDays(60))}`, caller.workspaceId)).toBe(1)
    expect(await deliveriesOf(caller, endpoint)).toMatchObject([
      { event_id: id, status: 'DELIVERED', attempts_made: 1 },
    ])
    expect(await totalOf(caller, endpoint)).toBe(1)
  })

  test('the worker role can neither create nor drop tables but by maintaining partitions, nor reach into one directly', async () => {
    const today = `delivery_${dayOf(new Date())}`
    await expect(worker`drop table ${worker(today)}`).rejects.toThrow('must be owner')
    await expect(worker`select from ${worker(today)}`).rejects.toThrow('permission denied')
    await expect(worker`select add_partition('event', current_date)`).rejects.toThrow('permission denied')
  })
})

describe('retention', () => {
  test('a day is kept for 30 days and dropped then, with its counts; days that were left are dropped together', async () => {
    const [kept, over, longOver] = [await aDaysAgo(30), await aDaysAgo(31), await aDaysAgo(45)]
    expect(await totalOf(over.caller, over.endpoint)).toBe(1)
    await maintain()
    expect(await totalOf(kept.caller, kept.endpoint)).toBe(1)
    for (const { caller, endpoint } of [over, longOver]) {
      expect(await totalOf(caller, endpoint)).toBe(0)
      expect(await deliveriesOf(caller, endpoint)).toEqual([])
      for (const table of [...TABLES, 'hourly_delivery_count']) expect(await rowsOf(table, caller.workspaceId)).toBe(0)
    }
    expect(await hasDay(inDays(-30))).toEqual([true, true, true])
    for (const days of [31, 45]) expect(await hasDay(inDays(-days))).toEqual([false, false, false])
  })

  test('the counts of a day are deleted in pieces before it is dropped, however many there are', async () => {
    const { caller, endpoint } = await aDaysAgo(33)
    await admin`
      insert into hourly_delivery_count (workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries)
      select ${caller.workspaceId}, ${endpoint.id}, now(), ${inDays(-33).toISOString().slice(0, 10)}::date, 'type ' || n, 'FAILED', 0, 1
      from generate_series(1, 12000) as n`
    await admin.unsafe(`
      create function refuse_many() returns trigger language plpgsql as $$ begin
        if (select count(*) from removed) > 5000 then raise 'too many at once'; end if;
        return null;
      end $$;
      create trigger refuse_many after delete on hourly_delivery_count
        referencing old table as removed for each statement execute function refuse_many();`)
    whenDone(async () => void (await admin.unsafe('drop trigger refuse_many on hourly_delivery_count')))
    await maintain()
    expect(await rowsOf('hourly_delivery_count', caller.workspaceId)).toBe(0)
    expect(await hasDay(inDays(-33))).toEqual([false, false, false])
  })

  test('drops nothing while the clocks of the database and the host are more than a day apart, which counts as a failure', async () => {
    const { caller, endpoint } = await aDaysAgo(33)
    await admin`drop table ${admin(`delivery_${dayOf(inDays(7))}`)}`
    const [inAWeek, failures] = [inDays(7), failuresOf('daily partitions')]
    vi.useFakeTimers({ toFake: ['Date'], now: inDays(40) })
    whenDone(() => vi.useRealTimers())
    await expect(maintain()).rejects.toThrow('nothing is removed')
    await whileUpkeepRuns(() => eventually('a failure is noted', async () => failuresOf('daily partitions') > failures))
    vi.useRealTimers()
    expect(await totalOf(caller, endpoint)).toBe(1)
    expect(await hasDay(inDays(-33))).toEqual([true, true, true])
    expect(await hasDay(inAWeek), 'partitions are added').toEqual([true, true, true])
    await maintain()
    expect(await hasDay(inDays(-33))).toEqual([false, false, false])
  })

  test('a delivery that is PENDING ends as FAILED before its day is dropped, and is counted', async () => {
    const { caller, endpoint, id } = await aDaysAgo(33, 'PENDING')
    const inFlight = await aDaysAgo(33, 'PENDING')
    await admin`
      update delivery set claimed_by = 2147483647, lease_until = now() + interval '1 minute' where id = ${inFlight.id}`
    lines.length = 0
    await maintain()
    expect(lines).toEqual([{ deliveries: 1 }])
    expect(await deliveriesOf(caller, endpoint)).toMatchObject([{ id, status: 'FAILED', next_attempt_at: null }])
    expect(await deliveriesOf(inFlight.caller, inFlight.endpoint)).toMatchObject([{ status: 'PENDING' }])
    await admin`update delivery set claimed_by = null, lease_until = null where id = ${inFlight.id}`
    await maintain()
    expect(lines).toEqual([{ deliveries: 1 }, { deliveries: 1 }])
    expect(await hasDay(inDays(-33))).toEqual([false, false, false])
  })

  test('an event whose id tells no day is kept for 30 days as well, and leaves the counts with its deletion', async () => {
    const { caller, endpoint } = await delivered([randomUUID()])
    await admin`update event set occurred_at = now() - interval '32 days' where workspace_id = ${caller.workspaceId}`
    await maintain()
    expect(await rowsOf('event', caller.workspaceId), 'its delivery is younger').toBe(1)
    await admin`
      update delivery set created_at = now() - interval '32 days', status = 'PENDING', next_attempt_at = now() + interval '1 day'
      where workspace_id = ${caller.workspaceId}`
    lines.length = 0
    await maintain()
    expect(lines).toEqual([{ deliveries: 1 }])
    expect(await totalOf(caller, endpoint)).toBe(0)
    for (const table of ['event', 'delivery']) expect(await rowsOf(table, caller.workspaceId)).toBe(0)
  })
})

describe('beside other work', () => {
  test('upkeep that would wait for a reader gives up at once and is made later; nobody waits behind it', async () => {
    const { caller, endpoint } = await aDaysAgo(35)
    await admin`drop table ${admin(`delivery_${dayOf(inDays(7))}`)}`
    const reading = Promise.withResolvers<void>()
    const reader = admin.begin(async (tx) => {
      await tx`select from delivery`
      await expect(maintainOnce()).rejects.toMatchObject({ code: '55P03' })
      const failures = failuresOf('daily partitions')
      lines.length = 0
      await whileUpkeepRuns(() => eventually('it is logged', async () => lines.length > 0))
      expect(lines).toMatchObject([{ err: { code: '55P03' } }])
      expect(failuresOf('daily partitions'), 'and is no failure').toBe(failures)
      expect(await totalOf(caller, endpoint)).toBe(1)
      await publish(anEvent(caller))
      expect(await totalOf(caller, endpoint)).toBe(2)
      reading.resolve()
    })
    await reading.promise
    await reader
    await maintain()
    expect(await hasDay(inDays(7))).toEqual([true, true, true])
    expect(await hasDay(inDays(-35))).toEqual([false, false, false])
  })

  test('partitions can be maintained by several at once, while deliveries go on', async () => {
    for (const days of [34, 35, 36]) await aDaysAgo(days)
    const caller = aCaller()
    const endpoint = await createEndpointAt(caller, receiver.url)
    const events = Array.from({ length: 100 }, () => anEvent(caller, { id: uuidv7() }))
    await Promise.all([
      ...Array.from({ length: 4 }, maintain),
      (async () => {
        for (const event of events) await publish(event)
      })(),
    ])
    await eventually('all are delivered', async () => (await totalOf(caller, endpoint, '&status=DELIVERED')) === 100)
    await maintain()
    for (const days of [34, 35, 36]) expect(await hasDay(inDays(-days))).toEqual([false, false, false])
  })
})
