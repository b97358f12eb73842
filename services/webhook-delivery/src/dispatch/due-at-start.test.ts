import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { CAPACITY } from '../scheduling/limits.ts'
import { anEvent, type CreatedEndpoint, webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)
const arrivalAt = (path: string, count = 1) =>
  eventually(`${count} requests at ${path}`, () => receivedAt(path).length >= count)

/** An endpoint with so many retries that have been due for a minute. */
async function withRetriesDue(path: string, count: number, caller = aCaller()) {
  const endpoint = await createEndpointAt(caller, `${receiver.url}${path}`)
  const { workspaceId } = caller
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${workspaceId}, uuidv7(), 'product.created', 'key ' || number, '{}', now()
      from generate_series(1, ${count}) as number
      returning id
    )
    insert into delivery (
      workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at
    )
    select ${workspaceId}, ${endpoint.id}, uuidv7(), id, 'product.created', 1, now() - interval '1 minute', now() from stored`
  return { caller, endpoint }
}

/** How many deliveries of all, or of one endpoint, are claimed. */
async function claimed(endpoint?: CreatedEndpoint): Promise<number> {
  const rows = await admin`
    select from delivery where claimed_by is not null ${endpoint ? admin`and endpoint_id = ${endpoint.id}` : admin``}`
  return rows.length
}

test('what is due at a start for endpoints that hang is taken up few by few, and fresh events are sent at once', async () => {
  receiver.answerWith((response, { path }) => {
    if (path === '/fresh') response.writeHead(204).end()
  })
  const endpoints = Array.from({ length: 50 }, (_, index) => index)
  await Promise.all(endpoints.map((index) => withRetriesDue(`/hanging/${index}`, 200)))
  const replica = await startReplica()
  for (const index of endpoints) await arrivalAt(`/hanging/${index}`)
  const caller = aCaller()
  await createEndpointAt(caller, `${receiver.url}/fresh`)
  await replica.publish(anEvent(caller))
  await arrivalAt('/fresh')
  // One attempt of each, and some that wait beside it.
  for (const index of endpoints) expect(receivedAt(`/hanging/${index}`)).toHaveLength(1)
  expect(await claimed()).toBeLessThanOrEqual(5 * endpoints.length)
  await replica.stop()
  await admin`delete from delivery`
})

test('ten thousand that are due at a start are all sent, with half of the memory at most', async () => {
  receiver.answerWith((response) => response.writeHead(204).end())
  const [one, other] = await Promise.all([withRetriesDue('/one', 5000), withRetriesDue('/other', 5000)])
  const replica = await startReplica()
  const held: number[] = []
  await eventually(
    'all are delivered',
    async () => {
      held.push(await claimed())
      const rows = await admin`
      select from delivery where endpoint_id in (${one.endpoint.id}, ${other.endpoint.id}) and status = 'PENDING' limit 1`
      return rows.length === 0
    },
    150_000,
  )
  expect(Math.max(...held)).toBeGreaterThan(0)
  expect(Math.max(...held)).toBeLessThanOrEqual(CAPACITY / 2)
  for (const path of ['/one', '/other']) {
    expect(new Set(receivedAt(path).map(({ headers }) => headers['webhook-id'])).size).toBe(5000)
    expect(receivedAt(path)).toHaveLength(5000)
  }
  await replica.stop()
})

test('a fresh event follows the first attempts that were due at the start, and neither waits for all of the retries (OP-74)', async () => {
  receiver.answerWith((response) => response.writeHead(204).end())
  const { caller, endpoint } = await withRetriesDue('/behind', 3000)
  const [older, fresh] = [anEvent(caller), anEvent(caller)]
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      values (${caller.workspaceId}, ${older.id}, 'product.created', 'key', '{}', now())
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    values (${caller.workspaceId}, ${endpoint.id}, uuidv7(), ${older.id}, 'product.created', now(), now())`
  const replica = await startReplica()
  await replica.publish(fresh)
  const received = () => receivedAt('/behind').map(({ headers }) => headers['webhook-id'])
  await eventually('the fresh event arrives', () => received().includes(fresh.id))
  expect(received()).toContain(older.id)
  expect(received().indexOf(older.id)).toBeLessThan(received().indexOf(fresh.id))
  expect(received().length).toBeLessThan(1500)
  await arrivalAt('/behind', 3002)
  await replica.stop()
})

test('claims whose endpoint cannot be read are given back, long before their lease ends', async () => {
  receiver.answerWith((response) => response.writeHead(204).end())
  const replica = await startReplica()
  await admin`revoke select on endpoint_set from webhook_delivery_worker`
  const { caller, endpoint } = await withRetriesDue('/unread', 3)
  const versions = () => admin<{ xmin: string }[]>`select xmin::text from delivery where endpoint_id = ${endpoint.id}`
  const before = await versions()
  await eventually('they were claimed', async () => (await versions())[0]?.xmin !== before[0]?.xmin)
  await eventually('they are free', async () => (await claimed(endpoint)) === 0)
  await admin`grant select on endpoint_set to webhook_delivery_worker`
  await arrivalAt('/unread', 3)
  await eventually('all are DELIVERED', async () =>
    (await deliveriesOf(caller, endpoint)).every(({ status }) => status === 'DELIVERED'),
  )
  expect(receivedAt('/unread')).toHaveLength(3)
  await replica.stop()
})
