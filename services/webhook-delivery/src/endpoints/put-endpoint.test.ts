import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, admin, createEndpointAt, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const key = randomBytes(32)
const secret = `whsec_${key.toString('base64')}`
const valid = { url: 'https://example.com/hook', enabled_events: ['product.created'], secret, description: 'Mail' }

/** The endpoint of an app that is installed in a workspace of its own. */
function anAppsEndpoint() {
  const caller = aCaller({ scopes: [] })
  const merchant = { ...caller, scopes: aCaller().scopes }
  const id = randomUUID()
  return {
    id,
    merchant,
    put: (body: unknown = valid) => send(caller, 'PUT', `/internal/endpoints/${id}`, body),
    remove: () => send(caller, 'DELETE', `/internal/endpoints/${id}`),
    read: async () => (await send<{ url: string }>(merchant, 'GET', `/v1/webhooks/${id}`)).body,
    rows: () => admin`select * from endpoint where workspace_id = ${caller.workspaceId}`,
    version: async () => {
      const [row] = await admin`select version from endpoint_set where workspace_id = ${caller.workspaceId}`
      return Number(row?.version)
    },
  }
}

test('an endpoint is made with the id that is given, and the merchant sees it like others, without its secret', async () => {
  const { id, merchant, put } = anAppsEndpoint()
  const other = await createEndpointAt(merchant, 'https://example.com/other')
  const answer = await put()
  expect([answer.status, answer.body]).toEqual([204, undefined])
  const { secret: _, ...shown } = valid
  const { body } = await send<{ items: { id: string }[] }>(merchant, 'GET', '/v1/webhooks')
  expect(body.items.map((item) => item.id).sort()).toEqual([id, other.id].sort())
  const item = body.items.find((listed) => listed.id === id)
  expect(item).toMatchObject({ ...shown, standard_signature: false })
  expect(item).not.toHaveProperty('secret')
})

test('its deliveries are signed with the secret that is given', async () => {
  const { merchant, put } = anAppsEndpoint()
  const replica = await startReplica()
  await put({ ...valid, url: `${receiver.url}/signed` })
  await replica.publish(anEvent(merchant))
  const { headers, body } = await eventually('it arrives', () => receiver.requests[0])
  const parts = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(parts).digest('hex')}`)
})

test('repeating the request changes nothing, also not what the merchant has changed since', async () => {
  const { id, merchant, put, read, rows, version } = anAppsEndpoint()
  await put()
  await send(merchant, 'PUT', `/v1/webhooks/${id}`, { url: 'https://example.com/moved' })
  const before = [await rows(), await version()]
  expect((await put()).status).toBe(204)
  expect((await put({ ...valid, secret: `whsec_${randomBytes(32).toString('base64')}` })).status).toBe(204)
  expect([await rows(), await version()]).toEqual(before)
  expect(await read()).toMatchObject({ url: 'https://example.com/moved' })
})

test('of requests at the same moment one makes the endpoint', async () => {
  const { put, rows, version } = anAppsEndpoint()
  const answers = await Promise.all(Array.from({ length: 10 }, () => put()))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(204))
  expect(await rows()).toHaveLength(1)
  expect(await version()).toBe(1)
})

describe('what a request to create an endpoint refuses, this one refuses too, and nothing is written', () => {
  const short = `whsec_${randomBytes(31).toString('base64')}`
  const notASecret = 'secret: must be whsec_ and the base64 of 32 bytes'
  test.each([
    ['plain http', { url: 'http://example.com' }, 400, 'url: must be an https URL'],
    ['a port of another protocol', { url: 'https://example.com:25' }, 400, 'url: must use port 443'],
    ['a forbidden address', { url: 'https://10.0.0.1' }, 422, 'url: 10.0.0.1 is not a public address'],
    ['an unknown event', { enabled_events: ['product.eaten'] }, 400, 'enabled_events[0]: is not an event type'],
    ['no secret', { secret: undefined }, 400, 'secret: is required'],
    ['a short secret', { secret: short }, 400, notASecret],
    ['a secret with a character too many', { secret: `${secret.slice(0, 20)}!${secret.slice(20)}` }, 400, notASecret],
    ['a secret without its prefix', { secret: secret.replace('whsec_', 'secret') }, 400, notASecret],
  ])('%s', async (_, difference, status, message) => {
    const { put, rows } = anAppsEndpoint()
    const answer = await put({ ...valid, ...difference })
    expect(answer.status).toBe(status)
    expect(answer.body.error.message).toContain(message)
    expect(answer.body.error.message).not.toContain(secret.slice(-30))
    expect(await rows()).toHaveLength(0)
  })
})

test('an endpoint is deleted as the merchant does it, and deleting again or without one answers 204 too', async () => {
  const { put, remove, rows, version } = anAppsEndpoint()
  await put()
  expect((await remove()).status).toBe(204)
  expect([await rows(), await version()]).toEqual([[], 2])
  expect((await remove()).status).toBe(204)
  expect(await version()).toBe(2)
})

test('a request to create an endpoint that comes after its deletion creates none, whether it was there before or not', async () => {
  for (const isThere of [false, true]) {
    const { put, remove, rows, version } = anAppsEndpoint()
    if (isThere) await put()
    await remove()
    const before = await version()
    expect((await put()).status).toBe(204)
    expect(await rows()).toEqual([])
    expect(await version()).toEqual(before)
  }
})

test('of requests to create and delete it at the same moment, the deletion holds', async () => {
  const endpoints = Array.from({ length: 20 }, anAppsEndpoint)
  await Promise.all(endpoints.flatMap(({ put, remove }) => [put(), remove(), put()]))
  expect(await Promise.all(endpoints.map(({ rows }) => rows()))).toEqual(endpoints.map(() => []))
})

test('an endpoint that the merchant has deleted does not come back with a repeated request', async () => {
  const { id, merchant, put, rows } = anAppsEndpoint()
  await put()
  expect((await send(merchant, 'DELETE', `/v1/webhooks/${id}`)).status).toBe(204)
  expect((await put()).status).toBe(204)
  expect(await rows()).toEqual([])
})

test('an endpoint of another workspace is not deleted, and its id is free in this one', async () => {
  const [one, other] = [anAppsEndpoint(), anAppsEndpoint()]
  await one.put()
  const path = `/internal/endpoints/${one.id}`
  expect((await send(other.merchant, 'PUT', path, valid)).status).toBe(204)
  const third = anAppsEndpoint()
  expect((await send(third.merchant, 'DELETE', path)).status).toBe(204)
  expect([await one.rows(), await other.rows()]).toMatchObject([[{ id: one.id }], [{ id: one.id }]])
})
