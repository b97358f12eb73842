import { createHmac } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const { publish } = await startReplica()

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)
const arrivalAt = (path: string, count = 1) =>
  eventually(`${count} requests at ${path}`, () => receivedAt(path).length >= count && receivedAt(path))

test('a matching event is posted at once, in the envelope, signed over the bytes sent (spec: Delivery)', async () => {
  const caller = aCaller({ livemode: false })
  const endpoint = await createEndpointAt(caller, `${receiver.url}/signed`, ['product.created'])
  const event = anEvent(caller, { data: { id: '1', name: 'Größe ½ 👕' } })
  await publish(event)
  const [request] = await arrivalAt('/signed')

  const { id, type, occurred_at: timestamp, livemode, data } = event
  expect(request?.body.toString()).toBe(JSON.stringify({ id, type, timestamp, livemode, data }))
  expect(livemode).toBe(false)
  expect(request?.headers['content-type']).toBe('application/json')
  expect(request?.headers['user-agent']).toMatch(/Webhooks/)
  expect(request?.headers['webhook-id']).toBe(event.id)
  const signedAt = String(request?.headers['webhook-timestamp'])
  expect(Math.abs(Date.now() / 1000 - Number(signedAt))).toBeLessThan(60)
  const key = Buffer.from(endpoint.secret.slice('whsec_'.length), 'base64')
  const input = Buffer.concat([Buffer.from(`${event.id}.${signedAt}.`), request?.body ?? Buffer.alloc(0)])
  expect(request?.headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(input).digest('hex')}`)
})

test('a 2xx makes the delivery DELIVERED and keeps the attempt (OP-66)', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}/delivered`)
  receiver.answerWith((response) => response.writeHead(202, { 'x-answer': 'yes' }).end('thank you'))
  await publish(anEvent(caller))
  const delivery = await eventually('it is delivered', async () => {
    const [found] = await deliveriesOf(caller, endpoint)
    return found?.status === 'DELIVERED' && found
  })
  expect(delivery).toMatchObject({ attempts_made: 1, next_attempt_at: null, event_type: 'product.created' })
  expect(delivery.delivered_at).not.toBeNull()
  const [attempt] = await admin`select * from attempt where delivery_id = ${delivery.id}`
  expect(attempt).toMatchObject({
    number: 1,
    request_url: endpoint.url,
    response_status: 202,
    response_body: Buffer.from('thank you'),
    response_truncated: false,
    error_class: null,
  })
  expect(attempt?.request_headers).toMatchObject({ 'Webhook-Id': delivery.event_id })
  expect(attempt?.response_headers).toMatchObject({ 'x-answer': 'yes' })
})

test('an event goes to every matching endpoint of its workspace and to no other', async () => {
  const caller = aCaller()
  await createEndpointAt(caller, `${receiver.url}/all`)
  await createEndpointAt(caller, `${receiver.url}/named`, ['product.created'])
  await createEndpointAt(caller, `${receiver.url}/other-event`, ['tag.created'])
  await createEndpointAt(aCaller(), `${receiver.url}/other-workspace`)
  await publish(anEvent(caller))
  await Promise.all([arrivalAt('/all'), arrivalAt('/named')])
  const [{ count }] = await admin<[{ count: string }]>`
    select count(*) from delivery where workspace_id = ${caller.workspaceId}`
  expect(Number(count)).toBe(2)
  expect([...receivedAt('/other-event'), ...receivedAt('/other-workspace')]).toEqual([])
})

test('an endpoint created after others were used gets the events that follow', async () => {
  const caller = aCaller()
  await createEndpointAt(caller, `${receiver.url}/early`)
  await publish(anEvent(caller))
  await createEndpointAt(caller, `${receiver.url}/late`)
  await publish(anEvent(caller))
  await Promise.all([arrivalAt('/early', 2), arrivalAt('/late', 1)])
})

test('the same record twice is one delivery', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}/once`)
  const event = anEvent(caller)
  await publish(event, event)
  await publish(event)
  await publish(anEvent(caller))
  await arrivalAt('/once', 2)
  expect(await deliveriesOf(caller, endpoint)).toHaveLength(2)
  expect(receivedAt('/once')).toHaveLength(2)
})

test('an event without an endpoint writes nothing', async () => {
  const caller = aCaller()
  await createEndpointAt(caller, `${receiver.url}/tags`, ['tag.created'])
  await publish(anEvent(caller))
  expect(await admin`select from event where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
})

test('an event is stored once for all its deliveries', async () => {
  const caller = aCaller()
  for (let index = 0; index < 3; index++) await createEndpointAt(caller, `${receiver.url}/stored`)
  await publish(anEvent(caller))
  await arrivalAt('/stored', 3)
  expect(await admin`select from event where workspace_id = ${caller.workspaceId}`).toHaveLength(1)
})

test('what is written while the replica hears of no commits is not kept in memory', async () => {
  const { dispatcher, stop } = await startReplica()
  const begun = dispatcher.beginWriting() ?? expect.fail('it hears of commits')
  begun.wrote([])
  await stop()
  expect(dispatcher.beginWriting()).toBeUndefined()
})
