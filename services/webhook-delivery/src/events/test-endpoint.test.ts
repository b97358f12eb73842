import { randomUUID } from 'node:crypto'
import { EVENT_CATALOGUE, EVENT_TYPES } from '@backoffice/contracts/events.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, it } from 'vitest'
import { type ListedDelivery, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
await startReplica()

const DEAD = 'http://127.0.0.1:9/'

it('sends an example of each event type, in the shape of its records, and marks it by livemode: false', async () => {
  const caller = aCaller({ livemode: true })
  const [receiver, other] = [await startReceiver(), await startReceiver()]
  const { id } = await createEndpointAt(caller, receiver.url, ['tag.created'])
  await createEndpointAt(caller, other.url)
  for (const type of EVENT_TYPES) {
    const { status, body } = await send<ListedDelivery>(caller, 'POST', `/v1/webhooks/${id}/test`, { event_type: type })
    expect([status, body.event_type, body.status]).toEqual([202, type, 'PENDING'])
    const find = () => receiver.requests.find(({ headers }) => headers['webhook-id'] === body.event_id)
    const request = await eventually(`${type} arrives`, find)
    const event = JSON.parse(String(request.body))
    expect(Object.keys(event)).toEqual(['id', 'type', 'timestamp', 'livemode', 'data'])
    expect(event).toMatchObject({ id: body.event_id, type, timestamp: expect.any(String), livemode: false })
    const { timestamp, ...members } = event
    const record = { ...members, occurred_at: timestamp, workspace_id: caller.workspaceId }
    expect([type, EVENT_CATALOGUE.get(type)?.record.safeParse(record).error?.issues]).toEqual([type, undefined])
  }
  expect(other.requests).toEqual([])
})

it('sends one for each request, each under an id of its own, and one for the same Idempotency-Key', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, DEAD)
  const test = (headers = {}) =>
    send<ListedDelivery>(caller, 'POST', `/v1/webhooks/${endpoint.id}/test`, { event_type: 'tag.created' }, headers)
  const answers = await Promise.all([
    test(),
    test(),
    test({ 'idempotency-key': 'a' }),
    test({ 'idempotency-key': 'a' }),
  ])
  expect(new Set(answers.map(({ body }) => body.event_id)).size).toBe(3)
  expect(await deliveriesOf(caller, endpoint)).toHaveLength(3)
})

it.each([
  ['an unknown type', { event_type: 'order.eaten' }, 'event_type: is not an event type: see GET'],
  ['all events', { event_type: '*' }, 'event_type: is not an event type'],
  ['a ping', { event_type: 'webhook.ping' }, 'event_type: is not an event type'],
  ['no type', {}, 'event_type: is required'],
  ['data of one’s own', { event_type: 'tag.created', data: {} }, 'data: unknown member'],
])('%s is bad_request, and nothing is sent', async (_, body, message) => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, DEAD)
  const answer = await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/test`, body)
  expect([answer.status, answer.body.error.code]).toEqual([400, 'bad_request'])
  expect(answer.body.error.message).toContain(message)
  expect(await deliveriesOf(caller, endpoint)).toEqual([])
})

it('does not know another workspace’s endpoint, nor one that is not there; needs the webhook permission', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, DEAD)
  const body = { event_type: 'tag.created' }
  for (const [who, id] of [
    [aCaller(), endpoint.id],
    [caller, randomUUID()],
  ] as const) {
    const answer = await send(who, 'POST', `/v1/webhooks/${id}/test`, body)
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
  }
  const reader = { ...caller, scopes: ['webhook::read', 'product'] }
  expect((await send(reader, 'POST', `/v1/webhooks/${endpoint.id}/test`, body)).status).toBe(403)
  expect(await deliveriesOf(caller, endpoint)).toEqual([])
})
