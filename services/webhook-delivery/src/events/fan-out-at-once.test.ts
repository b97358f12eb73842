import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, test } from 'vitest'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { anEvent, testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { fanOut } from './fan-out.ts'

const { admin, send, workerUrl, createEndpointAt } = await webhookDelivery()
const statements: string[] = []
const worker = openDatabase({
  url: workerUrl,
  applicationName: 'worker',
  onStatement: (statement) => void statements.push(statement),
})
whenDone(() => worker.stop?.())
const directory = endpointDirectory(testKeys)
const { handleAtOnce } = fanOut({
  directory,
  dispatcher: { beginWriting: () => ({ token: 'ours', wrote: () => undefined }) },
  schedule: [0],
  clock: () => new Date(),
  backlog: { note: () => undefined },
})

const URL = 'https://example.com'
const read = (caller: { workspaceId: string }) => directory.of(worker.sql, [caller.workspaceId])

/** Passes events to the consumer; whether it has handled them at once, with so many statements. */
async function publish(...events: ReturnType<typeof anEvent>[]) {
  statements.length = 0
  const records = events.map((value, index) => ({
    ...{ topic: 'events', partition: 0, offset: String(index), traceparent: undefined, value },
    key: String((value.data as { id: string }).id),
  }))
  const afterCommit = await handleAtOnce?.(records, worker.sql)
  return { isHandled: afterCommit !== undefined, statements: statements.length }
}

const deliveredOf = async (caller: { workspaceId: string }) => {
  const rows = await admin<{ eventId: string; body: string }[]>`
    select event.id as "eventId", body from delivery join event on event.id = delivery.event_id
    where delivery.workspace_id = ${caller.workspaceId} order by delivery.id`
  return rows.map(({ eventId }) => eventId)
}

let caller = aCaller()
beforeEach(async () => {
  caller = aCaller()
  await createEndpointAt(caller, URL)
  await createEndpointAt(caller, URL)
  await read(caller)
})

test('events of known workspaces are stored with their deliveries by one statement, in their order', async () => {
  const events = [anEvent(caller), anEvent(caller)]
  expect(await publish(...events)).toEqual({ isHandled: true, statements: 1 })
  const [one, two] = events.map(({ id }) => id)
  expect(await deliveredOf(caller)).toEqual([one, one, two, two])
})

test('an event that comes again, alone or among others, is left to a transaction, and nothing is written', async () => {
  const [there, fresh] = [anEvent(caller), anEvent(caller)]
  await publish(there)
  for (const again of [[there], [fresh, there], [fresh, fresh]]) {
    expect(await publish(...again)).toEqual({ isHandled: false, statements: 1 })
  }
  expect(await deliveredOf(caller)).toEqual([there.id, there.id])
})

test('a workspace of which nothing is in memory takes more', async () => {
  const unknown = aCaller()
  expect(await publish(anEvent(caller), anEvent(unknown))).toEqual({ isHandled: false, statements: 0 })
  await read(unknown)
  expect(await publish(anEvent(caller), anEvent(unknown))).toEqual({ isHandled: true, statements: 1 })
})

test('nothing is written by what was true of the endpoints before they changed', async () => {
  await createEndpointAt(caller, URL)
  const event = anEvent(caller)
  expect((await publish(event)).isHandled).toBe(false)
  expect(await deliveredOf(caller)).toEqual([])
  await read(caller)
  expect((await publish(event)).isHandled).toBe(true)
  expect(await deliveredOf(caller)).toHaveLength(3)
})

test('nothing overtakes events in the backlog', async () => {
  const waiting = anEvent(caller)
  await admin`
    insert into fan_out_backlog (workspace_id, event_id, endpoint_ids, deliveries, bytes)
    values (${caller.workspaceId}, ${waiting.id}, '{}', 1, 1)`
  expect((await publish(anEvent(caller))).isHandled).toBe(false)
  await admin`delete from fan_out_backlog`
  expect((await publish(anEvent(caller))).isHandled).toBe(true)
})

test('an event with personal data of an erased customer takes more (OP-139)', async () => {
  const event = { ...anEvent(caller), type: 'customer.updated' }
  const { id } = event.data as { id: string }
  await admin`
    insert into erasure (workspace_id, customer_id, noted_at, next_pass_at)
    values (${caller.workspaceId}, ${id}, now(), now())`
  expect((await publish(event)).isHandled).toBe(false)
  expect((await publish({ ...event, type: 'product.updated' })).isHandled).toBe(true)
})

test('a deleted endpoint gets nothing more', async () => {
  const { id } = await createEndpointAt(caller, URL)
  await read(caller)
  await send(caller, 'DELETE', `/v1/webhooks/${id}`)
  expect((await publish(anEvent(caller))).isHandled).toBe(false)
})
