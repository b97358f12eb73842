import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

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
  // One attempt of each.
  for (const index of endpoints) expect(receivedAt(`/hanging/${index}`)).toHaveLength(1)
  await replica.stop()
  await admin`delete from delivery`
})

test('an endpoint whose events came just before the start has two attempts in flight, as any that nothing is known of (OP-105)', async () => {
  receiver.answerWith(() => undefined)
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}/just-before`)
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${caller.workspaceId}, uuidv7(), 'product.created', 'key ' || number, '{}', now()
      from generate_series(1, 3) as number
      returning id
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select ${caller.workspaceId}, ${endpoint.id}, uuidv7(), id, 'product.created', now(), now() from stored`
  const replica = await startReplica({ timeoutMs: 120_000 })
  await arrivalAt('/just-before', 2)
  await replica.stop()
  await admin`delete from delivery`
})

test('three thousand that are due at a start are all sent, once each', async () => {
  receiver.answerWith((response) => response.writeHead(204).end())
  const [one, other] = await Promise.all([withRetriesDue('/one', 1500), withRetriesDue('/other', 1500)])
  const replica = await startReplica()
  await eventually(
    'all are delivered',
    async () => {
      const rows = await admin`
      select from delivery where endpoint_id in (${one.endpoint.id}, ${other.endpoint.id}) and status = 'PENDING' limit 1`
      return rows.length === 0
    },
    150_000,
  )
  for (const path of ['/one', '/other']) {
    expect(new Set(receivedAt(path).map(({ headers }) => headers['webhook-id'])).size).toBe(1500)
    expect(receivedAt(path)).toHaveLength(1500)
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

test('what is due for an endpoint that cannot be read waits in the table, and is sent once it can', async () => {
  receiver.answerWith((response) => response.writeHead(204).end())
  const errors: unknown[] = []
  const logger: Logger = Object.assign(createLogger('test', 'silent'), {
    warn: (line: unknown) => void errors.push(line),
  })
  const replica = await startReplica({ logger })
  await admin`revoke select on endpoint_set from webhook_delivery_worker`
  const { caller, endpoint } = await withRetriesDue('/unread', 3)
  await eventually('a reading failed', () => errors.length > 0)
  expect((await deliveriesOf(caller, endpoint)).map(({ status }) => status)).toEqual(Array(3).fill('PENDING'))
  await admin`grant select on endpoint_set to webhook_delivery_worker`
  await arrivalAt('/unread', 3)
  await eventually('all are DELIVERED', async () =>
    (await deliveriesOf(caller, endpoint)).every(({ status }) => status === 'DELIVERED'),
  )
  expect(receivedAt('/unread')).toHaveLength(3)
  await replica.stop()
})

test('events of two workspaces with one id are read together, and each goes to its own workspace with its own body', async () => {
  receiver.answerWith((response) => response.writeHead(204).end())
  const { id } = anEvent(aCaller())
  const paths = ['/body-of-one', '/body-of-other']
  for (const path of paths) {
    const { workspaceId } = aCaller()
    const endpoint = await createEndpointAt(aCaller({ workspaceId }), `${receiver.url}${path}`)
    await admin`
      with stored as (
        insert into event (workspace_id, id, type, key, body, occurred_at)
        values (${workspaceId}, ${id}, 'product.created', 'key', ${JSON.stringify({ path })}, now())
      )
      insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
      values (${workspaceId}, ${endpoint.id}, uuidv7(), ${id}, 'product.created', now(), now())`
  }
  const replica = await startReplica()
  for (const path of paths) await arrivalAt(path)
  const bodies = paths.map((path) => receivedAt(path).map(({ body }) => JSON.parse(String(body))))
  expect(bodies).toEqual(paths.map((path) => [{ path }]))
  await replica.stop()
})
