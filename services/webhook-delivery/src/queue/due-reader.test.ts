import { randomUUID } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { usedMemory } from '@backoffice/testing/used-memory.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import { testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { DueEndpoints } from './due-endpoints.ts'
import { DueReader, type ReadDeliveries } from './due-reader.ts'
import { jobsOf } from './jobs-of.ts'

const { admin, workerUrl, createEndpointAt } = await webhookDelivery()
const { sql, stop } = openDatabase({ url: workerUrl, applicationName: 'worker' })
whenDone(() => stop?.())
const common = {
  sql,
  directory: endpointDirectory(testKeys),
  logger: createLogger('test', 'silent'),
  clock: () => new Date(),
}

/** Writes an event and its deliveries, in the order of the endpoints; returns the ids of these. */
async function written(workspaceId: string, body: string, endpointIds: readonly string[]): Promise<string[]> {
  const rows = await admin<{ id: string }[]>`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      values (${workspaceId}, uuidv7(), 'product.created', 'key', ${body}, now()) returning id
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select ${workspaceId}, endpoint, delivery_id, id, 'product.created', uuid_extract_timestamp(delivery_id), now()
    from stored, (
      select endpoint, place, uuidv7() as delivery_id
      from unnest(${[...endpointIds]}::uuid[]) with ordinality as wanted (endpoint, place)
    ) as planned
    order by place
    returning id`
  return rows.map(({ id }) => id)
}

test('what is read has its body also when another delivery of its event is to be read again', async () => {
  const caller = aCaller()
  const again = (await createEndpointAt(caller, 'https://example.com')).id
  const beside = (await createEndpointAt(caller, 'https://example.com')).id
  const [queues, due, read] = [new EndpointQueues(), new DueEndpoints(), [] as ReadDeliveries[]]
  let onHeard = () => undefined as unknown
  const reader = new DueReader({
    ...common,
    ...{ queues, due },
    heard: async () => void onHeard(),
    onRead(found) {
      read.push(found)
      const { jobs } = jobsOf(found.deliveries, found.workspaces, found.bodies)
      for (const { job } of jobs) queues.add(job, performance.now())
    },
  })
  reader.start()
  whenDone(() => reader.stop())
  const note = (...endpointIds: readonly string[]) => {
    for (const id of endpointIds) due.note(id, Date.now(), true)
    reader.wake()
  }
  const [first = ''] = await written(caller.workspaceId, '{"number":1}', [again])
  note(again)
  await eventually('the first is read', () => queues.get(again)?.readUpTo === first)

  await written(caller.workspaceId, '{"number":2}', [again, beside])
  // A commit that is heard of during the reading, before its cursor.
  onHeard = () => reader.noteFirstAttempts(again, first)
  note(again, beside)
  const found = await eventually('the second is read', () =>
    read.find(({ deliveries }) => deliveries.some(({ endpointId }) => endpointId === beside)),
  )
  expect(found.deliveries.map(({ endpointId }) => endpointId)).toEqual([beside])
  expect([...found.bodies.values()]).toEqual(['{"number":2}'])
})

test('a reading that has a body from before its redaction is made again, and no other', async () => {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, 'https://example.com')
  const [queues, due, bodies] = [new EndpointQueues(), new DueEndpoints(), [] as string[]]
  let readings = 0
  let onReading = async (): Promise<unknown> => undefined
  const reader = new DueReader({
    ...common,
    ...{ queues, due },
    async heard() {
      readings++
      await onReading()
    },
    onRead(found) {
      bodies.push(...found.bodies.values())
      for (const { job } of jobsOf(found.deliveries, found.workspaces, found.bodies).jobs)
        queues.add(job, performance.now())
    },
  })
  reader.start()
  whenDone(() => reader.stop())
  const readAfter = async (body: string, onCommit: typeof onReading) => {
    onReading = onCommit
    const [last = ''] = await written(caller.workspaceId, body, [id])
    due.note(id, Date.now(), true)
    reader.wake()
    await eventually('it is read', () => queues.get(id)?.readUpTo === last)
    return readings
  }
  await readAfter('"first"', async () => undefined)
  const { workspaceId } = caller
  const unrelated = async () => reader.noteRedacted({ workspaceId, eventIds: [randomUUID()] })
  expect(await readAfter('"second"', unrelated)).toBe(1)
  const redacted = async () => {
    const events = await admin<{ id: string }[]>`
      update event set body = '"redacted"' where workspace_id = ${workspaceId} and body = '"third"' returning id`
    reader.noteRedacted({ workspaceId, eventIds: events.map((event) => event.id) })
  }
  expect(await readAfter('"third"', redacted)).toBe(3)
  expect(bodies).toEqual(['"first"', '"second"', '"redacted"'])
})

test('an endpoint with little room is read through: it is not read again until something is due', async () => {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, 'https://example.com')
  const [queues, due] = [new EndpointQueues(), new DueEndpoints()]
  queues.assumeSlow(id)
  let readings = 0
  const reader = new DueReader({
    ...common,
    ...{ queues, due },
    heard: async () => undefined,
    onRead({ deliveries, workspaces, bodies }) {
      readings++
      for (const { job } of jobsOf(deliveries, workspaces, bodies).jobs) queues.add(job, performance.now())
    },
  })
  reader.start()
  whenDone(() => reader.stop())
  await written(caller.workspaceId, '{}', [id])
  await written(caller.workspaceId, '{}', [id])
  for (const reading of ['the first', 'one with room for two more']) {
    const before = readings
    due.note(id, Date.now(), true)
    reader.wake()
    await eventually(
      reading,
      () => readings > before && queues.get(id)?.held === 2 && due.ready(Date.now()).length === 0,
    )
  }
})

test('what is recorded while nothing is read takes no memory, however much it is', () => {
  const reader = new DueReader({
    ...common,
    ...{ queues: new EndpointQueues(), due: new DueEndpoints() },
    heard: async () => undefined,
    onRead: () => undefined,
  })
  const before = usedMemory().heapUsed
  for (let recorded = 0; recorded < 300_000; recorded++) reader.noteRecorded(randomUUID())
  expect(usedMemory().heapUsed - before).toBeLessThan(5_000_000)
  reader.noteRecorded('so that it is in use until here')
})
