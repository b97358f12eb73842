import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const { publish } = await startReplica()

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)

test('an endpoint that hangs delays no other, however much waits for it', async () => {
  const caller = aCaller()
  receiver.answerWith((response, { path }) => {
    if (path === '/healthy') response.writeHead(204).end()
  })
  await createEndpointAt(caller, `${receiver.url}/hanging`, ['tag.created'])
  await createEndpointAt(caller, `${receiver.url}/healthy`, ['product.created'])
  await publish(...Array.from({ length: 2000 }, () => anEvent(caller, { type: 'tag.created' })))
  await publish(anEvent(caller))
  await eventually('the healthy endpoint has its event', () => receivedAt('/healthy').length === 1)
  // Only its own share of attempts is under way, and part of its deliveries waits in the table.
  expect(receivedAt('/hanging').length).toBeLessThanOrEqual(2)
  const [waiting] = await admin<[{ count: string }]>`
    select count(*) from delivery where workspace_id = ${caller.workspaceId} and status = 'PENDING'`
  expect(Number(waiting.count)).toBeGreaterThan(0)
})

test('a workspace whose many endpoints hang keeps none of another from its event', async () => {
  const [hanging, healthy] = [aCaller(), aCaller()]
  receiver.answerWith((response, { path }) => {
    if (path === '/elsewhere') response.writeHead(204).end()
  })
  const endpoints = 120
  for (let index = 0; index < endpoints; index++) await createEndpointAt(hanging, `${receiver.url}/all-hang`)
  await createEndpointAt(healthy, `${receiver.url}/elsewhere`)
  await publish(...Array.from({ length: 20 }, () => anEvent(hanging)))
  await publish(anEvent(healthy))
  await eventually('the other workspace has its event', () => receivedAt('/elsewhere').length === 1)
  // Two attempts each, as to endpoints that nothing is known of.
  expect(receivedAt('/all-hang').length).toBeLessThanOrEqual(2 * endpoints)
})

test('what found no room in memory is sent from the table, all of it once', async () => {
  const caller = aCaller()
  receiver.answerWith((response) => response.writeHead(204).end())
  const endpoint = await createEndpointAt(caller, `${receiver.url}/burst`)
  const events = Array.from({ length: 1500 }, () => anEvent(caller))
  await publish(...events)
  await eventually('all have arrived', () => receivedAt('/burst').length >= events.length)
  await eventually('all are recorded', async () => {
    const [pending] = await admin<[{ count: string }]>`
      select count(*) from delivery where endpoint_id = ${endpoint.id} and status = 'PENDING'`
    return pending.count === '0'
  })
  expect(new Set(receivedAt('/burst').map(({ headers }) => headers['webhook-id'])).size).toBe(events.length)
  expect(receivedAt('/burst')).toHaveLength(events.length)
})

test('first attempts about one thing go out in the order of their events, one after the other (OP-74)', async () => {
  const caller = aCaller()
  const underWay = new Map<string, number>()
  let overlapped = false
  receiver.answerWith((response, { path, body }) => {
    // What hung before comes again in between: one event to many endpoints.
    if (path !== '/ordered') return void response.writeHead(204).end()
    const { data } = JSON.parse(body.toString())
    const others = underWay.get(data.id) ?? 0
    overlapped ||= others > 0
    underWay.set(data.id, others + 1)
    setImmediate(() => {
      underWay.set(data.id, (underWay.get(data.id) ?? 1) - 1)
      response.writeHead(204).end()
    })
  })
  await createEndpointAt(caller, `${receiver.url}/ordered`)
  const events = Array.from({ length: 2000 }, (_, number) =>
    anEvent(caller, { data: { id: `product ${number % 5}`, number } }),
  )
  await publish(...events.slice(0, 1500))
  await publish(...events.slice(1500))
  await eventually('all have arrived', () => receivedAt('/ordered').length === events.length)
  const numbers = receivedAt('/ordered').map(({ body }) => JSON.parse(body.toString()).data)
  const byProduct = Map.groupBy(numbers, ({ id }) => id)
  for (const own of byProduct.values()) {
    expect(own.map(({ number }) => number)).toEqual(own.map(({ number }) => number).sort((a, b) => a - b))
  }
  expect(overlapped).toBe(false)
})

test('a retry waits for nothing: what comes after it may overtake it (OP-74)', async () => {
  const caller = aCaller()
  receiver.answerWith((response) => response.writeHead(receivedAt('/overtaken').length === 1 ? 500 : 204).end())
  const endpoint = await createEndpointAt(caller, `${receiver.url}/overtaken`)
  await publish(anEvent(caller, { data: { id: 'one' } }), anEvent(caller, { data: { id: 'one' } }))
  const statuses = await eventually('both first attempts are recorded', async () => {
    const deliveries = await deliveriesOf(caller, endpoint)
    return deliveries.every(({ attempts_made }) => attempts_made === 1) && deliveries.map(({ status }) => status)
  })
  expect(statuses.sort()).toEqual(['DELIVERED', 'PENDING'])
})
