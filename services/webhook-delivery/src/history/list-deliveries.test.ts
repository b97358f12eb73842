import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, type ListedDelivery, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const { publish } = await startReplica()

test('deliveries are a page object, newest first, each with all its members (OP-60)', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  const events = [anEvent(caller), anEvent(caller, { type: 'tag.created' }), anEvent(caller)]
  for (const event of events) await publish(event)
  await eventually('all are delivered', async () =>
    (await deliveriesOf(caller, endpoint)).every(({ status }) => status === 'DELIVERED'),
  )
  const path = `/v1/webhooks/${endpoint.id}/deliveries?page=1&limit=2`
  const answer = await send<{ items: ListedDelivery[] }>(caller, 'GET', path)
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({ page: 1, size: 2, total: 3, total_pages: 2, has_next_page: true })
  expect(answer.body.items.map(({ event_id }) => event_id)).toEqual([events[2]?.id, events[1]?.id])
  expect(answer.body.items[1]).toMatchObject({
    event_type: 'tag.created',
    status: 'DELIVERED',
    attempts_made: 1,
    next_attempt_at: null,
  })
})

test('an endpoint without deliveries has an empty list', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  const answer = await send(caller, 'GET', `/v1/webhooks/${endpoint.id}/deliveries`)
  expect(answer.body).toMatchObject({ total: 0, items: [] })
})

test('another workspace’s endpoint is not found', async () => {
  const endpoint = await createEndpointAt(aCaller(), receiver.url)
  const answer = await send(aCaller(), 'GET', `/v1/webhooks/${endpoint.id}/deliveries`)
  expect(answer.status).toBe(404)
  expect(answer.body.error.code).toBe('not_found')
})

test('an unknown endpoint is not found, and an id that is no UUID is bad_request (OP-09)', async () => {
  expect((await send(aCaller(), 'GET', `/v1/webhooks/${randomUUID()}/deliveries`)).status).toBe(404)
  expect((await send(aCaller(), 'GET', '/v1/webhooks/1/deliveries')).status).toBe(400)
})

test('a key without webhook::read is refused', async () => {
  const path = `/v1/webhooks/${randomUUID()}/deliveries`
  expect((await send(aCaller({ scopes: ['product'] }), 'GET', path)).status).toBe(403)
})
