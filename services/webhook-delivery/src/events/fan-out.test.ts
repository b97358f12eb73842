import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { EVENT_TOPICS, type EventRecord, TOPICS } from '@backoffice/contracts/events.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

// With a partition each, so that an event waits behind those before it.
const TOPICS_READ = EVENT_TOPICS.map((name) => ({ name, partitions: 1, config: {} }))
const [{ admin, createEndpointAt, startReplica }, { kafka, open }, receiver] = await Promise.all([
  webhookDelivery(),
  testKafka(TOPICS_READ),
  startReceiver(),
])

const [EVENTS, ENDPOINTS] = [600, 50]

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)

const recordOf = (event: EventRecord) => ({
  topic: TOPICS.catalogEvents as string,
  key: (event.data as { id: string }).id,
  value: Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.from(JSON.stringify(event))]),
  headers: {},
})

const BODY = JSON.stringify({ data: { id: 'from the backlog' } })

/** Puts an event into the backlog. */
const inBacklog = async ({ workspaceId }: Caller, endpointIds: string[]) => {
  const eventId = randomUUIDv7()
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      values (${workspaceId}, ${eventId}, 'product.created', ${eventId}, ${BODY}, now())
    )
    insert into fan_out_backlog (workspace_id, event_id, endpoint_ids, deliveries, bytes)
    values (${workspaceId}, ${eventId}, ${endpointIds}, ${endpointIds.length}, ${BODY.length})`
  return eventId
}
const HOUR_MS = 3_600_000

test('the one event of a workspace is delivered while most deliveries of many events before it are to be made', async () => {
  const [large, small] = [aCaller(), aCaller()]
  for (let index = 0; index < ENDPOINTS; index++) await createEndpointAt(large, `${receiver.url}/large/${index}`)
  await createEndpointAt(small, `${receiver.url}/small`)
  await kafka.produce(Array.from({ length: EVENTS }, () => recordOf(anEvent(large))))
  await kafka.produce([recordOf(anEvent(small))])
  const replica = await startReplica()
  await replica.consume(open())
  await eventually('the one event arrives', () => receivedAt('/small').length === 1, 60_000)
  const [made] = await admin<[{ count: number }]>`
    select count(*)::integer as count from delivery where workspace_id = ${large.workspaceId}`
  expect(made.count).toBeLessThan((EVENTS * ENDPOINTS) / 4)
  await replica.stop()
  await admin`delete from fan_out_backlog`
  await admin`delete from delivery where workspace_id = ${large.workspaceId}`
})

test('one transaction inserts some of the deliveries of many events only', async () => {
  const caller = aCaller()
  for (let index = 0; index < 20; index++) await createEndpointAt(caller, receiver.url)
  // Nothing is due, so no row is written again.
  const { publish, stop } = await startReplica({ schedule: [HOUR_MS] })
  await publish(...Array.from({ length: 300 }, () => anEvent(caller)))
  const inserted = () => admin<{ count: number }[]>`
    select count(*)::integer as count from delivery where workspace_id = ${caller.workspaceId} group by xmin order by 1`
  const counts = await eventually('all are there', async () => {
    const rows = await inserted()
    return rows.reduce((sum, { count }) => sum + count, 0) === 6000 && rows
  })
  expect(Math.max(...counts.map(({ count }) => count))).toBeLessThanOrEqual(2500)
  await stop()
})

test('a record that comes again while its event is in the backlog, or later, changes nothing', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}/again`)
  const { publish, stop } = await startReplica()
  const events = Array.from({ length: 600 }, () => anEvent(caller))
  await publish(...events)
  await publish(...events)
  await eventually('they arrive', () => receivedAt('/again').length === events.length)
  await publish(...events)
  await eventually('nothing is left in the backlog', async () => {
    const rows = await admin`select from fan_out_backlog where workspace_id = ${caller.workspaceId}`
    return rows.length === 0
  })
  const rows = await admin`select from delivery where endpoint_id = ${endpoint.id}`
  expect(rows).toHaveLength(events.length)
  expect(receivedAt('/again')).toHaveLength(events.length)
  await stop()
})

test('the backlog of a dead process goes to the endpoints that each event had, but for those deleted since (OP-97)', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}/left`, ['tag.created'])
  const eventId = await inBacklog(caller, [endpoint.id, randomUUID()])
  const { stop } = await startReplica()
  await eventually('it arrives', () => receivedAt('/left').length === 1)
  expect(receivedAt('/left')[0]?.headers['webhook-id']).toBe(eventId)
  expect(receivedAt('/left')[0]?.body.toString()).toBe(BODY)
  expect(await admin`select from delivery where workspace_id = ${caller.workspaceId}`).toHaveLength(1)
  await stop()
})
