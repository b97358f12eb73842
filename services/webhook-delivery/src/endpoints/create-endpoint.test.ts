import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, test } from 'vitest'
import { type CreatedEndpoint, MOST_ENDPOINTS, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, admin, createEndpointAt } = await webhookDelivery()
const url = 'https://example.com/webhooks'
const valid = { url, enabled_events: ['product.created'] }

test('Subscription 2: the answer to creating an endpoint includes its signing secret', async () => {
  const answer = await send<CreatedEndpoint>(aCaller(), 'POST', '/v1/webhooks', { ...valid, description: 'Orders' })
  expect(answer.status).toBe(201)
  expect(answer.body).toMatchObject({ ...valid, description: 'Orders', updated_at: answer.body.created_at })
  expect(answer.body.secret).toMatch(/^whsec_/)
  expect(Buffer.from(answer.body.secret.slice('whsec_'.length), 'base64')).toHaveLength(32)
})

test('Subscription 2: the secret is shown once: it is in no list, and not readable in the table', async () => {
  const caller = aCaller()
  const { secret, ...shown } = await createEndpointAt(caller, url)
  const list = await send<{ items: unknown[] }>(caller, 'GET', '/v1/webhooks')
  expect(list.body.items).toEqual([shown])
  const [row] = await admin`select * from endpoint where id = ${shown.id}`
  const stored = Buffer.concat([row?.sealed_secret, Buffer.from(JSON.stringify(row))])
  expect(stored.includes(secret)).toBe(false)
  expect(stored.includes(Buffer.from(secret.slice('whsec_'.length), 'base64'))).toBe(false)
})

test('an unset description is null (OP-09)', async () => {
  expect((await createEndpointAt(aCaller(), url)).description).toBeNull()
})

test('enabled_events are kept once each', async () => {
  const endpoint = await createEndpointAt(aCaller(), url, ['tag.created', 'product.created', 'tag.created'])
  expect(endpoint.enabled_events).toEqual(['tag.created', 'product.created'])
})

describe('what the schema can tell is bad_request, names the field, and nothing is written', () => {
  test.each([
    ['url', { ...valid, url: 'example.com' }, 'url: must be a URL such as https://example.com/webhooks'],
    ['plain http', { ...valid, url: 'http://example.com' }, 'url: must be an https URL'],
    ['credentials', { ...valid, url: 'https://a:b@example.com' }, 'url: must not contain a user name or password'],
    [
      'another scheme',
      { ...valid, url: 'wss://example.com' },
      'url: must be a URL such as https://example.com/webhooks',
    ],
    [
      'a port of another protocol',
      { ...valid, url: 'https://example.com:25' },
      'url: must use port 443, or one from 1024',
    ],
    [
      'a url of 2,049 characters',
      { ...valid, url: `https://example.com/${'a'.repeat(2029)}` },
      'url: must have at most 2048 characters',
    ],
    ['no url', { enabled_events: ['*'] }, 'url: is required'],
    ['a url that is no text', { ...valid, url: 1 }, 'url: must be a string, not a number'],
    ['no events', { url }, 'enabled_events: is required'],
    [
      'events as text',
      { ...valid, enabled_events: 'product.created' },
      'enabled_events: must be an array, not a string',
    ],
    ['an event that is no text', { ...valid, enabled_events: [null] }, 'enabled_events[0]: must be a string'],
    ['an empty list', { ...valid, enabled_events: [] }, 'enabled_events: must have at least 1 item'],
    [
      'an unknown event',
      { ...valid, enabled_events: ['*', 'product.eaten'] },
      'enabled_events[1]: is not an event type',
    ],
    ['the ping event', { ...valid, enabled_events: ['webhook.ping'] }, 'enabled_events[0]: is not an event type'],
    ['* and a name', { ...valid, enabled_events: ['*', 'product.created'] }, 'enabled_events: "*" stands alone'],
    [
      'a name in capitals',
      { ...valid, enabled_events: ['PRODUCT.CREATED'] },
      'enabled_events[0]: is not an event type',
    ],
    ['a pattern of names', { ...valid, enabled_events: ['product.*'] }, 'enabled_events[0]: is not an event type'],
    [
      'an unknown event, with where the names are',
      { ...valid, enabled_events: [''] },
      'enabled_events[0]: is not an event type: see GET /v1/webhooks/event-types',
    ],
    [
      '10,000 names',
      { ...valid, enabled_events: Array(10_000).fill('product.created') },
      'enabled_events: must have at most 1000 items',
    ],
    ['1,000 unknown names', { ...valid, enabled_events: Array(1000).fill('a.b') }, '(and 995 more)'],
    ['an unknown member', { ...valid, secret: 'mine' }, 'secret: unknown member'],
    ['a description that is no text', { ...valid, description: 1 }, 'description: must be a string'],
    [
      'a standard_signature that is no boolean',
      { ...valid, standard_signature: 1 },
      'standard_signature: must be true or false, not a number',
    ],
    ['a NUL character', { ...valid, description: 'a\0b' }, 'description: must not contain NUL characters'],
    ['no object', [], 'body: must be an object, not an array'],
    ['no body', undefined, 'body: is required'],
    ['malformed JSON', '{"url": ', 'body: malformed JSON'],
  ])('%s', async (_, body, message) => {
    const caller = aCaller()
    const answer = await send(caller, 'POST', '/v1/webhooks', body)
    expect(answer.status).toBe(400)
    expect(answer.body.error.code).toBe('bad_request')
    expect(answer.body.error.message).toContain(message)
    expect(await admin`select from endpoint where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  })
})

test('a forbidden target is unprocessable and nothing is written (OP-70)', async () => {
  const caller = aCaller()
  const answer = await send(caller, 'POST', '/v1/webhooks', { ...valid, url: 'https://10.0.0.1/hook' })
  expect(answer.status).toBe(422)
  expect(answer.body.error).toMatchObject({ code: 'unprocessable', message: 'url: 10.0.0.1 is not a public address' })
  expect(await admin`select from endpoint where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
})

test('a key without the webhook permission is refused (spec: Authentication 4)', async () => {
  const answer = await send(aCaller({ scopes: ['product', 'webhook::read'] }), 'POST', '/v1/webhooks', valid)
  expect(answer.status).toBe(403)
  expect(answer.body.error.message).toBe('API key lacks required scope: webhook::create')
})

test('a repeated Idempotency-Key is a conflict that names the endpoint, whose secret is not kept (OP-08)', async () => {
  const caller = aCaller()
  const headers = { 'idempotency-key': randomUUID() }
  const first = await send<CreatedEndpoint>(caller, 'POST', '/v1/webhooks', valid, headers)
  const second = await send(caller, 'POST', '/v1/webhooks', valid, headers)
  expect(second.status).toBe(409)
  expect(second.body.error.message).toContain(`webhook endpoint ${first.body.id}`)
  const [stored] = await admin`select * from idempotency_key where workspace_id = ${caller.workspaceId}`
  expect(JSON.stringify(stored)).not.toContain(first.body.secret)
  expect(await admin`select from endpoint where workspace_id = ${caller.workspaceId}`).toHaveLength(1)
})

describe('a workspace has at most 500 endpoints (OP-121)', () => {
  /** A workspace that has so many endpoints. */
  const withEndpoints = async (count: number) => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, url)
    await admin`
      insert into endpoint
      select workspace_id, uuidv7(), url, enabled_events, description, secret_key_id, sealed_secret, created_at, updated_at
      from endpoint cross join generate_series(2, ${count}::integer) where id = ${id}`
    return caller
  }
  const refusal = {
    status: 409,
    body: {
      error: {
        code: 'conflict',
        message: 'this workspace has 500 webhook endpoints, and may have no more; delete one first',
      },
    },
  }

  test('one more is conflict, and nothing is written', async () => {
    const caller = await withEndpoints(MOST_ENDPOINTS)
    expect(await send(caller, 'POST', '/v1/webhooks', valid)).toMatchObject(refusal)
    const [row] =
      await admin`select count(*)::integer as count from endpoint where workspace_id = ${caller.workspaceId}`
    expect(row?.count).toBe(MOST_ENDPOINTS)
  })

  test('once one is deleted another can be created', async () => {
    const caller = await withEndpoints(MOST_ENDPOINTS)
    const [row] = await admin`select id from endpoint where workspace_id = ${caller.workspaceId} limit 1`
    await send(caller, 'DELETE', `/v1/webhooks/${row?.id}`)
    expect((await send(caller, 'POST', '/v1/webhooks', valid)).status).toBe(201)
  })

  test('of many that are created at once for the last place one is', async () => {
    const caller = await withEndpoints(MOST_ENDPOINTS - 1)
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(caller, 'POST', '/v1/webhooks', valid)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
  })
})
