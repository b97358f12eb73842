import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const { publish } = await startReplica()

test('the status of an endpoint without deliveries says when it was created, and nothing else', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  expect((await send(caller, 'GET', `/v1/webhooks/${endpoint.id}/status`)).body).toEqual({
    state: 'ACTIVE',
    reason: null,
    since: endpoint.created_at,
    app: null,
    success_rate_24h: null,
    p95_ms: null,
    oldest_pending: null,
    last_success_at: null,
    last_failure: null,
  })
})

test('the status shows how deliveries went, and what waits', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  const tried = (count: number) =>
    eventually(`${count} were tried`, async () => {
      const made = await deliveriesOf(caller, endpoint)
      return made.filter(({ attempts_made }) => attempts_made > 0).length === count
    })
  await publish(anEvent(caller), anEvent(caller), anEvent(caller))
  await tried(3)
  receiver.answerWith((response) => response.writeHead(503).end())
  await publish(anEvent(caller))
  await tried(4)
  const [failed] = await deliveriesOf(caller, endpoint)
  const { body } = await send<Record<string, unknown>>(caller, 'GET', `/v1/webhooks/${endpoint.id}/status`)
  expect(body).toMatchObject({
    state: 'ACTIVE',
    success_rate_24h: 0.75,
    p95_ms: expect.any(Number),
    oldest_pending: failed?.created_at,
    last_success_at: expect.any(String),
    last_failure: { at: expect.any(String), error_class: 'status', response_status: 503 },
  })
})
