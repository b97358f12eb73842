import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, test } from 'vitest'
import { type CreatedEndpoint, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, admin, createEndpointAt, takeStatements } = await webhookDelivery()
const url = 'https://example.com/webhooks'

/** An endpoint with its body, and a way to update it. */
async function anEndpoint() {
  const caller = aCaller()
  const { secret: _, ...before } = await createEndpointAt(caller, url, ['product.created'])
  const path = `/v1/webhooks/${before.id}`
  return {
    caller,
    before,
    update: (body: unknown) => send<CreatedEndpoint>(caller, 'PUT', path, body),
    refusal: (body: unknown) => send(caller, 'PUT', path, body),
    read: async () => (await send<CreatedEndpoint>(caller, 'GET', path)).body,
    version: async () => {
      const [set] = await admin`select version from endpoint_set where workspace_id = ${caller.workspaceId}`
      return Number(set?.version)
    },
  }
}

test.each([
  ['url', { url: 'https://example.org/other' }],
  ['enabled_events', { enabled_events: ['tag.created', 'tag.deleted'] }],
  ['enabled_events to all', { enabled_events: ['*'] }],
  ['description', { description: 'Orders' }],
  ['standard_signature', { standard_signature: true }],
])('%s is changed alone: what is not sent stays (OP-97)', async (_, change) => {
  const { before, update, read, version } = await anEndpoint()
  const versionBefore = await version()
  const { status, body } = await update(change)
  expect(status).toBe(200)
  expect(body).toEqual({ ...before, ...change, updated_at: body.updated_at })
  expect(body.updated_at > before.updated_at).toBe(true)
  expect(await read()).toEqual(body)
  expect(await version()).toBe(versionBefore + 1)
})

test('a description of null unsets it (OP-09)', async () => {
  const { update } = await anEndpoint()
  expect((await update({ description: 'Orders' })).body.description).toBe('Orders')
  expect((await update({ description: null })).body.description).toBeNull()
})

test.each([
  ['nothing is sent', () => ({})],
  ['events of null are sent (OP-244)', () => ({ enabled_events: null })],
  [
    'all is as it was',
    ({ url, enabled_events, description, standard_signature }: Omit<CreatedEndpoint, 'secret'>) => ({
      url,
      enabled_events,
      description,
      standard_signature,
    }),
  ],
])('an update that changes nothing leaves updated_at: %s (OP-73)', async (_, body) => {
  const { before, update, version } = await anEndpoint()
  const versionBefore = await version()
  const answer = await update(body(before))
  expect([answer.status, answer.body]).toEqual([200, before])
  expect(await version()).toBe(versionBefore)
})

describe('what the schema can tell is bad_request, names the member, and nothing is changed', () => {
  test.each([
    ['a relative url', { url: 'example.com' }, 'url: must be a URL such as https://example.com/webhooks'],
    ['plain http', { url: 'http://example.com' }, 'url: must be an https URL'],
    ['credentials', { url: 'https://a:b@example.com' }, 'url: must not contain a user name or password'],
    ['a long url', { url: `https://example.com/${'a'.repeat(2030)}` }, 'url: must have at most 2048 characters'],
    ['a url of null', { url: null }, 'url: must be a string'],
    ['an empty list', { enabled_events: [] }, 'enabled_events: must have at least 1 item'],
    ['an unknown event', { enabled_events: ['tag.created', 'tag.eaten'] }, 'enabled_events[1]: is not an event type'],
    ['* and a name', { enabled_events: ['*', 'tag.created'] }, 'enabled_events: "*" stands alone'],
    [
      '10,000 names',
      { enabled_events: Array(10_000).fill('tag.created') },
      'enabled_events: must have at most 1000 items',
    ],
    ['a description that is no text', { description: 1 }, 'description: '],
    ['a long description', { description: 'a'.repeat(65_537) }, 'description: '],
    ['a standard_signature of null', { standard_signature: null }, 'standard_signature: must be true or false'],
    ['a standard_signature as text', { standard_signature: 'true' }, 'standard_signature: must be true or false'],
    ['a secret', { secret: 'whsec_mine' }, 'secret: unknown member'],
    ['an id', { id: '00000000-0000-4000-8000-000000000000' }, 'id: unknown member'],
    ['a good member beside a bad one', { description: 'x', url: 'ftp://example.com' }, 'url: '],
    ['no object', [], 'body: must be an object, not an array'],
  ])('%s', async (_, body, message) => {
    const { before, refusal, read } = await anEndpoint()
    const answer = await refusal(body)
    expect(answer.status).toBe(400)
    expect(answer.body.error.code).toBe('bad_request')
    expect(answer.body.error.message).toContain(message)
    expect(await read()).toEqual(before)
  })
})

test('a forbidden target is unprocessable and nothing is changed (OP-70)', async () => {
  const { before, refusal, read } = await anEndpoint()
  const answer = await refusal({ description: 'x', url: 'https://10.0.0.1/hook' })
  expect(answer.status).toBe(422)
  expect(answer.body.error).toMatchObject({ code: 'unprocessable', message: 'url: 10.0.0.1 is not a public address' })
  expect(await read()).toEqual(before)
})

test('a target is judged after the endpoint: an unknown one is not_found, another tag precondition_failed', async () => {
  const { before, caller } = await anEndpoint()
  const put = (id: string, headers = {}) =>
    send(caller, 'PUT', `/v1/webhooks/${id}`, { url: 'https://10.0.0.1/hook' }, headers)
  expect((await put('00000000-0000-4000-8000-000000000000')).status).toBe(404)
  expect((await put(before.id, { 'if-match': '"other"' })).status).toBe(412)
})

test('an update takes two statements besides the transaction’s own and the note that endpoints changed', async () => {
  const { update } = await anEndpoint()
  takeStatements()
  await update({ description: 'x' })
  expect(takeStatements()).toHaveLength(6)
})

test('of two updates at once each applies the members it sends (50 rounds)', async () => {
  const { update, read } = await anEndpoint()
  for (let round = 0; round < 50; round++) {
    const [description, other] = [`round ${round}`, `https://example.com/${round}`]
    await Promise.all([update({ description }), update({ url: other })])
    expect(await read()).toMatchObject({ description, url: other })
  }
})

test('an update and a delete at once leave no endpoint (50 rounds)', async () => {
  for (let round = 0; round < 50; round++) {
    const { caller, before, refusal } = await anEndpoint()
    const path = `/v1/webhooks/${before.id}`
    const [updated, deleted] = await Promise.all([refusal({ description: 'x' }), send(caller, 'DELETE', path)])
    expect([200, 404]).toContain(updated.status)
    expect(deleted.status).toBe(204)
    expect((await send(caller, 'GET', path)).status).toBe(404)
  }
})
