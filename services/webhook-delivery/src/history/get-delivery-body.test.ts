import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, it } from 'vitest'
import { type ListedDelivery, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, createEndpointAt, startReplica } = await webhookDelivery()

it('shows the body of a delivery before its first attempt, in the bytes that are sent then', async () => {
  const caller = aCaller()
  const receiver = await startReceiver()
  const { id } = await createEndpointAt(caller, receiver.url)
  const { body: ping } = await send<ListedDelivery>(caller, 'POST', `/v1/webhooks/${id}/ping`)
  const path = `/v1/webhooks/${id}/deliveries/${ping.id}/body`
  const { status, body } = await send<{ body: string }>(caller, 'GET', path)
  expect(status).toBe(200)
  expect(JSON.parse(body.body)).toMatchObject({ id: ping.event_id, type: 'webhook.ping' })
  await startReplica()
  const request = await eventually('it arrives', () => receiver.requests[0])
  expect(request.body.toString()).toBe(body.body)
})

it('is not_found for another workspace, another endpoint, an unknown delivery, and once the endpoint is deleted', async () => {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, 'http://127.0.0.1:9/')
  const beside = await createEndpointAt(caller, 'http://127.0.0.1:9/')
  const { body: ping } = await send<ListedDelivery>(caller, 'POST', `/v1/webhooks/${id}/ping`)
  const read = (who = caller, at = id, delivery = ping.id) =>
    send(who, 'GET', `/v1/webhooks/${at}/deliveries/${delivery}/body`)
  for (const answer of [await read(aCaller()), await read(caller, beside.id), await read(caller, id, randomUUID())])
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
  expect((await read({ ...caller, scopes: ['webhook::create', 'product'] })).status).toBe(403)
  await send(caller, 'DELETE', `/v1/webhooks/${id}`)
  expect((await read()).status).toBe(404)
})
