import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, it } from 'vitest'
import { type ListedDelivery, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
await startReplica()

it('Webhooks 2: sends webhook.ping to the endpoint, whatever it subscribes to, and to no other', async () => {
  const caller = aCaller({ livemode: false })
  const [receiver, other] = [await startReceiver(), await startReceiver()]
  const endpoint = await createEndpointAt(caller, receiver.url, ['tag.created'])
  await createEndpointAt(caller, other.url)
  const { status, body } = await send<ListedDelivery>(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
  expect(status).toBe(202)
  expect(body).toMatchObject({ event_type: 'webhook.ping', status: 'PENDING', attempts_made: 0 })
  await eventually('it is delivered', async () => (await deliveriesOf(caller, endpoint))[0]?.status === 'DELIVERED')
  const [request] = receiver.requests
  expect(JSON.parse(String(request?.body))).toEqual({
    id: body.event_id,
    type: 'webhook.ping',
    timestamp: expect.any(String),
    livemode: false,
    data: { id: endpoint.id },
  })
  expect(request?.headers['webhook-id']).toBe(body.event_id)
  expect(other.requests).toHaveLength(0)
})

it('sends one for each request, and one for the same Idempotency-Key', async () => {
  const caller = aCaller()
  const receiver = await startReceiver()
  const endpoint = await createEndpointAt(caller, receiver.url)
  const ping = (headers = {}) => send(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`, undefined, headers)
  await Promise.all([ping(), ping(), ping({ 'idempotency-key': 'a' }), ping({ 'idempotency-key': 'a' })])
  await eventually('they are delivered', async () => {
    const deliveries = await deliveriesOf(caller, endpoint)
    return deliveries.length === 3 && deliveries.every(({ status }) => status === 'DELIVERED')
  })
  expect(receiver.requests).toHaveLength(3)
})

it('does not know another workspace’s endpoint, nor one that is not there; needs the webhook permission', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, 'http://127.0.0.1:9/')
  for (const [who, id] of [
    [aCaller(), endpoint.id],
    [caller, randomUUID()],
  ] as const) {
    const { status, body } = await send(who, 'POST', `/v1/webhooks/${id}/ping`)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  }
  const reader = { ...caller, scopes: ['webhook::read', 'product'] }
  expect((await send(reader, 'POST', `/v1/webhooks/${endpoint.id}/ping`)).status).toBe(403)
  expect(await deliveriesOf(caller, endpoint)).toEqual([])
})
