import { randomUUID } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, afterEach, expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'
import { maintainPartitions, mergeCounts } from './daily-partitions.ts'

const { admin, workerUrl, send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const { publish } = await startReplica()
const workerDb = openDatabase({ url: workerUrl, applicationName: 'worker', poolSize: 5 })
const worker = workerDb.sql

afterEach(() => maintainPartitions(worker, new Date()))
afterAll(() => workerDb.stop?.())

const DAY_MS = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS)
const dayOf = (at: Date) => at.toISOString().slice(0, 10).replaceAll('-', '')

const partitionsOf = async (table: string): Promise<string[]> => {
  const rows = await admin<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = ${table}::regclass order by 1`
  return rows.map(({ name }) => name)
}

const totalOf = async (...[caller, endpoint, query = '']: [Parameters<typeof send>[0], { id: string }, string?]) =>
  (await send<{ total: number }>(caller, 'GET', `/v1/webhooks/${endpoint.id}/deliveries?limit=1${query}`)).body.total

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

const rowsOf = async (table: string, workspaceId: string): Promise<number> => {
  const [row] = await admin`select count(*)::integer as n from ${admin(table)} where workspace_id = ${workspaceId}`
  return row?.n
}

test('a day’s events, deliveries and attempts are in a partition of that day, and there is one for each day of the week to come', async () => {
  const { caller } = await delivered([uuidv7()])
  for (const table of ['event', 'delivery', 'attempt']) {
    expect(await rowsOf(`${table}_${dayOf(new Date())}`, caller.workspaceId)).toBe(1)
    const days = Array.from({ length: 9 }, (_, index) => `${table}_${dayOf(inDays(index - 1))}`)
    expect(await partitionsOf(table)).toEqual([...days, `${table}_default`].sort())
  }
})

test('a day is kept for 30 days and dropped then, with its counts', async () => {
  const { caller, endpoint } = await delivered([uuidv7(), uuidv7()])
  const today = `delivery_${dayOf(new Date())}`
  await maintainPartitions(worker, inDays(30))
  expect(await partitionsOf('delivery')).toContain(today)
  expect(await totalOf(caller, endpoint)).toBe(2)
  await maintainPartitions(worker, inDays(31))
  expect(await partitionsOf('delivery')).not.toContain(today)
  expect(await totalOf(caller, endpoint)).toBe(0)
  expect(await deliveriesOf(caller, endpoint)).toEqual([])
  for (const table of ['event', 'delivery', 'attempt']) expect(await rowsOf(table, caller.workspaceId)).toBe(0)
})

test('an event whose id tells no day is kept for 30 days as well, and leaves the counts with its deletion', async () => {
  const { caller, endpoint } = await delivered([randomUUID()])
  await maintainPartitions(worker, inDays(30))
  expect(await totalOf(caller, endpoint)).toBe(1)
  await maintainPartitions(worker, inDays(31))
  expect(await totalOf(caller, endpoint)).toBe(0)
  for (const table of ['event', 'delivery']) expect(await rowsOf(table, caller.workspaceId)).toBe(0)
})

test('an id that only looks like one of a day to come moves to that day’s partition when it is made', async () => {
  const id = uuidv7({ msecs: inDays(60).getTime() })
  const { caller, endpoint } = await delivered([id])
  expect(await rowsOf('delivery_default', caller.workspaceId)).toBe(1)
  await maintainPartitions(worker, inDays(55))
  expect(await rowsOf('delivery_default', caller.workspaceId)).toBe(0)
  expect(await rowsOf(`delivery_${dayOf(inDays(60))}`, caller.workspaceId)).toBe(1)
  expect(await deliveriesOf(caller, endpoint)).toMatchObject([{ event_id: id, status: 'DELIVERED', attempts_made: 1 }])
  expect(await totalOf(caller, endpoint)).toBe(1)
  await maintainPartitions(worker, inDays(91))
  expect(await totalOf(caller, endpoint)).toBe(0)
})

test('partitions can be maintained by several at once, while deliveries go on', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  const events = Array.from({ length: 100 }, () => anEvent(caller, { id: uuidv7() }))
  await Promise.all([
    ...Array.from({ length: 4 }, () => maintainPartitions(worker, inDays(3))),
    (async () => {
      for (const event of events) await publish(event)
    })(),
  ])
  await eventually('all are delivered', async () => (await totalOf(caller, endpoint, '&status=DELIVERED')) === 100)
})

test('the worker role can neither create nor drop tables but by maintaining partitions, nor reach into one directly', async () => {
  const today = `delivery_${dayOf(new Date())}`
  await expect(worker`drop table ${worker(today)}`).rejects.toThrow('must be owner')
  await expect(worker`select from ${worker(today)}`).rejects.toThrow('permission denied')
  await expect(worker`select add_partition('event', current_date)`).rejects.toThrow('permission denied')
})

test('counts agree with the rows after they were merged', async () => {
  const { caller, endpoint } = await delivered([uuidv7(), uuidv7(), uuidv7()])
  await mergeCounts(worker, inDays(1))
  expect(await totalOf(caller, endpoint)).toBe(3)
  expect(await totalOf(caller, endpoint, '&status=DELIVERED')).toBe(3)
  const [counts] = await admin`
    select count(*)::integer as rows from delivery_count where workspace_id = ${caller.workspaceId} and shard > 0`
  expect(counts?.rows).toBe(0)
})
