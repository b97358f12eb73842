import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'

const { send, createEndpointAt } = await webhookDelivery()

test('an endpoint is read as it was created, without its secret (OP-60)', async () => {
  const caller = aCaller()
  const { secret: _, ...shown } = await createEndpointAt(caller, 'https://example.com')
  const answer = await send(caller, 'GET', `/v1/webhooks/${shown.id}`)
  expect([answer.status, answer.body]).toEqual([200, shown])
})

test.each([
  ['GET', undefined],
  ['PUT', { description: 'x' }],
  ['DELETE', undefined],
  ['POST', {}],
] as const)(
  '%s of an unknown endpoint, or of another workspace’s, is not_found; an id that is no UUID is bad_request',
  async (method, body) => {
    const endpoint = await createEndpointAt(aCaller(), 'https://example.com')
    const suffix = method === 'POST' ? '/secret/rotate' : ''
    for (const id of [randomUUID(), endpoint.id]) {
      const answer = await send(aCaller(), method, `/v1/webhooks/${id}${suffix}`, body)
      expect(answer.status).toBe(404)
      expect(answer.body.error).toMatchObject({
        code: 'not_found',
        message: `id: this workspace has no webhook endpoint ${id}`,
      })
    }
    const answer = await send(aCaller(), method, `/v1/webhooks/1${suffix}`, body)
    expect(answer.status).toBe(400)
    expect(answer.body.error.message).toBe('id: must be a UUID')
  },
)

test.each([
  ['GET', undefined, 'webhook::read'],
  ['PUT', { description: 'x' }, 'webhook::update'],
  ['DELETE', undefined, 'webhook::delete'],
  ['POST', {}, 'webhook::create'],
] as const)(
  '%s needs its own action of the webhook permission (spec: Authentication 4; OP-04)',
  async (method, body, scope) => {
    const owner = aCaller()
    const { id } = await createEndpointAt(owner, 'https://example.com')
    const path = `/v1/webhooks/${id}${method === 'POST' ? '/secret/rotate' : ''}`
    const others = ['read', 'create', 'update', 'delete']
      .map((action) => `webhook::${action}`)
      .filter((one) => one !== scope)
    const refused = await send({ ...owner, scopes: ['product', ...others] }, method, path, body)
    expect(refused.status).toBe(403)
    expect(refused.body.error.message).toBe(`API key lacks required scope: ${scope}`)
    expect((await send({ ...owner, scopes: [scope] }, method, path, body)).status).toBeLessThan(300)
  },
)
