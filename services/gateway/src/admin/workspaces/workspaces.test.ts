import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { testVerifier } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { testGateway } from '../../testing/test-gateway.ts'
import type { Echo } from '../../testing/test-upstream.ts'
import type { Workspace } from './create-workspace.ts'

const UNKNOWN = '0198c2f1-a3b4-7c5d-8e9f-0123456789ab'
const gateway = await testGateway()
const verify = testVerifier('catalog')
const create = <Body = z.output<typeof Workspace>>(body: unknown) => gateway.admin<Body>('POST', '/workspaces', body)
const settings = (id: string, body: unknown) => gateway.admin<unknown>('PUT', `/workspaces/${id}/settings`, body)

describe('creating', () => {
  test('answers the workspace, live, without a sandbox unless asked for', async () => {
    const answer = await create({ name: 'Àdùké Stores', domain: 'shop.example.com' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      name: 'Àdùké Stores',
      domain: 'shop.example.com',
      livemode: true,
      sandbox: null,
      status: 'ACTIVE',
    })
  })

  test('with a sandbox, both are workspaces with one parent', async () => {
    const { body } = await create({ name: 'Shop', sandbox: true })
    expect(body).toMatchObject({ domain: null, livemode: true, sandbox: { livemode: false } })
    const rows = await gateway.database.admin`
      select id, livemode from workspace where parent = ${body.id} order by livemode desc`
    expect(rows).toEqual([
      { id: body.id, livemode: true },
      { id: body.sandbox?.id, livemode: false },
    ])
  })

  test.each([
    [{}, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: 'a', domain: 'https://shop.example.com' }, 'domain'],
    [{ name: 'a', sandbox: 'yes' }, 'sandbox'],
    [{ name: 'a', livemode: false }, 'livemode'],
  ])('refuses %j, naming %s', async (body, path) => {
    const answer = await create<ErrorBody>(body)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
    expect(answer.body.error.message).toContain(`${path}: `)
  })
})

describe('with an Idempotency-Key (OP-301)', () => {
  const createAs = <Body = z.output<typeof Workspace>>(key: string, body: unknown, token?: string) =>
    gateway.admin<Body>('POST', '/workspaces', body, token, { 'idempotency-key': key })

  test('eight requests at once make one workspace, and get it', async () => {
    const body = { name: 'Once', domain: 'once.example', sandbox: true }
    const answers = await Promise.all(Array.from({ length: 8 }, () => createAs('made-once', body)))
    const [first] = answers
    for (const answer of answers) expect(answer).toMatchObject({ status: 201, body: first?.body })
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(7)
    const target = `workspaces/${first?.body.id}`
    const audit = await gateway.admin<{ total: number }>('GET', `/audit?target=${encodeURIComponent(target)}`)
    expect(audit.body.total).toBe(1)
    const named = await gateway.database.admin`select from workspace where name = 'Once'`
    expect(named).toHaveLength(2)
  })

  test('another workspace under the same key is refused, and so is one that is deleted', async () => {
    const { body } = await createAs('reused', { name: 'First' })
    const clash = { status: 409, headers: { 'error-reason': 'key_reused' } }
    const other = await createAs<ErrorBody>('reused', { name: 'Second' })
    expect(other).toMatchObject(clash)
    expect(other.body.error.message).toContain(`Idempotency-Key: was used to make workspace ${body.id}`)
    await gateway.database.admin`update workspace set deleted_at = now() where id = ${body.id}`
    expect(await createAs('reused', { name: 'First' })).toMatchObject(clash)
    expect((await createAs<ErrorBody>('not\tvisible', { name: 'First' })).status).toBe(400)
  })

  test('the key of another operator is another one', async () => {
    const operator = await gateway.admin<{ token: string }>('POST', '/operators', { name: 'provisioning' })
    const mine = await createAs('ours', { name: 'Mine' })
    const theirs = await createAs('ours', { name: 'Mine' }, operator.body.token)
    expect(theirs.status).toBe(201)
    expect(theirs.body.id).not.toBe(mine.body.id)
  })
})

describe('listing', () => {
  test('pages through live workspaces with their sandboxes, newest first', async () => {
    const older = (await create({ name: 'Older', sandbox: true })).body
    const newer = (await create({ name: 'Newer' })).body
    const list = (query: string) =>
      gateway.admin<{ items: z.output<typeof Workspace>[]; total: number }>('GET', `/workspaces${query}`)
    const first = await list('?limit=1')
    expect(first.body).toMatchObject({ page: 1, size: 1, has_next_page: true, items: [newer] })
    const second = await list('?limit=1&page=2')
    expect(second.body).toMatchObject({ page: 2, has_previous_page: true, items: [older] })
    expect(second.body.total).toBe(first.body.total)
    expect((await list('?page=0')).status).toBe(400)
  })
})

describe('one workspace', () => {
  test('is shown with its status, sandbox and settings in force; a sandbox with its live workspace', async () => {
    const { id, sandbox } = (await create({ name: 'Shop', domain: 'one.example.com', sandbox: true })).body
    await settings(id, { cart_price_seconds: 60 })
    await gateway.admin('POST', `/workspaces/${id}/suspend`, { reason: 'fraud' })
    const inForce = { product_statuses: ['ACTIVE', 'HIDDEN', 'ARCHIVED'], rate_limit: null, cart_price_seconds: 60 }
    const shared = { name: 'Shop', domain: 'one.example.com', live_workspace: id, status: 'SUSPENDED' }
    const live = await gateway.admin('GET', `/workspaces/${id}`)
    expect(live).toMatchObject({
      status: 200,
      body: { ...shared, id, livemode: true, sandbox, suspension_reason: 'fraud', settings: inForce },
    })
    expect((await gateway.admin('GET', `/workspaces/${sandbox?.id}`)).body).toMatchObject({
      ...shared,
      id: sandbox?.id,
      livemode: false,
      sandbox: null,
      settings: { ...inForce, cart_price_seconds: 86_400 },
    })
  })

  test('that is unknown or deleted is not_found', async () => {
    const { id } = (await create({ name: 'Gone' })).body
    await gateway.admin('DELETE', `/workspaces/${id}`)
    for (const each of [id, UNKNOWN])
      expect(await gateway.admin('GET', `/workspaces/${each}`)).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found' } },
      })
  })
})

describe('the endpoints of a workspace', () => {
  test('are answered as webhook-delivery lists them; what it does not know yet is service_unavailable', async () => {
    const { workspaceId } = await gateway.aKey()
    const list = (id: string) => gateway.admin('GET', `/workspaces/${id}/endpoints`)
    const answer = { endpoints: [], limits: { endpoints: { used: 0, most: 500 } } }
    let asked: string | undefined
    gateway.webhooks.answer = (request, response) => {
      asked = `${request.method} ${request.url}`
      response.end(JSON.stringify(answer))
    }
    expect(await list(workspaceId)).toMatchObject({ status: 200, body: answer })
    expect(asked).toBe('GET /internal/endpoints-health')
    gateway.webhooks.answer = (_request, response) => void response.writeHead(404).end('{"error":{}}')
    expect(await list(workspaceId)).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
    expect((await list(UNKNOWN)).status).toBe(404)
  })
})

describe('the endpoints that fail', () => {
  test('are asked for with the query; an item that the list lacks is unprocessable', async () => {
    let asked: string | undefined
    const page = {
      page: 1,
      size: 20,
      total: 0,
      total_pages: 0,
      has_next_page: false,
      has_previous_page: false,
      items: [],
    }
    gateway.webhooks.answer = (request, response) => {
      asked = request.url
      response.end(JSON.stringify(page))
    }
    const path = `/endpoints?state=FAILING&limit=5&after=${UNKNOWN}`
    expect(await gateway.admin('GET', path)).toMatchObject({ status: 200, body: page })
    expect(asked).toBe(`/internal/failing-endpoints?limit=5&after=${UNKNOWN}&state=FAILING`)
    const error = { code: 'unprocessable', message: 'after: this list has no item', request_id: UNKNOWN }
    gateway.webhooks.answer = (_request, response) => void response.writeHead(422).end(JSON.stringify({ error }))
    expect(await gateway.admin('GET', path)).toMatchObject({
      status: 422,
      body: { error: { code: 'unprocessable', message: 'after: this list has no item' } },
    })
    expect((await gateway.admin('GET', '/endpoints?state=ACTIVE')).status).toBe(400)
  })
})

describe('searching', () => {
  const search = async (query: string, more = '') => {
    const { body } = await gateway.admin<{ items: z.output<typeof Workspace>[]; total: number }>(
      'GET',
      `/workspaces?query=${encodeURIComponent(query)}${more}`,
    )
    return body.items?.map(({ id }) => id) ?? body
  }

  test('finds parts of name and domain in any case, and the id of a workspace or of its sandbox', async () => {
    const { id, sandbox } = (await create({ name: 'Zürcher Kräuter', domain: 'herbs.example.org', sandbox: true })).body
    const other = (await create({ name: 'Zürcher Käse' })).body.id
    expect(await search('zürcher')).toEqual([other, id])
    expect(await search('KRÄUT zürch')).toEqual([id])
    expect(await search('herbs.example')).toEqual([id])
    expect(await search(id)).toEqual([id])
    expect(await search(String(sandbox?.id))).toEqual([id])
    expect(await search('zürcher', `&limit=1&after=${other}`)).toEqual([id])
    for (const nothing of ['zürcher honig', UNKNOWN]) expect(await search(nothing)).toEqual([])
  })

  test('needs a letter or a digit', async () => {
    expect(await search('%_')).toMatchObject({ error: { code: 'bad_request' } })
  })
})

describe('settings', () => {
  test('are answered in force: omitted ones stay, null puts the default back', async () => {
    const { id } = (await create({ name: 'Shop' })).body
    const inForce = async (body: unknown) => ((await settings(id, body)).body as { settings: unknown }).settings
    const all = ['ACTIVE', 'HIDDEN', 'ARCHIVED']
    const day = { cart_price_seconds: 86_400 }
    expect(await inForce({})).toEqual({ product_statuses: all, rate_limit: null, ...day })
    expect(await inForce({ product_statuses: ['ACTIVE'] })).toEqual({
      product_statuses: ['ACTIVE'],
      rate_limit: null,
      ...day,
    })
    const limit = { per_second: 5, burst: 9 }
    expect(await inForce({ rate_limit: limit })).toEqual({ product_statuses: ['ACTIVE'], rate_limit: limit, ...day })
    expect(await inForce({ product_statuses: null })).toEqual({ product_statuses: all, rate_limit: limit, ...day })
    expect(await inForce({ rate_limit: null })).toEqual({ product_statuses: all, rate_limit: null, ...day })
    const hour = { product_statuses: all, rate_limit: null, cart_price_seconds: 3600 }
    expect(await inForce({ cart_price_seconds: 3600 })).toEqual(hour)
    expect(await inForce({})).toEqual(hour)
    expect(await inForce({ cart_price_seconds: null })).toMatchObject(day)
  })

  test('answer with their workspace, which may be a sandbox with settings of its own', async () => {
    const { id, sandbox } = (await create({ name: 'Shop', sandbox: true })).body
    await settings(String(sandbox?.id), { product_statuses: ['HIDDEN'] })
    expect((await settings(String(sandbox?.id), {})).body).toEqual({
      id: sandbox?.id,
      name: 'Shop',
      domain: null,
      livemode: false,
      settings: { product_statuses: ['HIDDEN'], rate_limit: null, cart_price_seconds: 86_400 },
    })
    expect(await settings(id, {})).toMatchObject({ status: 200, body: { livemode: true } })
    expect(await settings(id, {})).not.toMatchObject({ body: { settings: { product_statuses: ['HIDDEN'] } } })
  })

  test('reach the services with the next request after they are announced', async () => {
    const { workspaceId, key } = await gateway.aKey()
    const caller = async () => {
      const { headers } = (await gateway.send<Echo>(key, 'GET', '/v1/products')).body
      return (await verify(headers['x-internal-token'], new Date(gateway.now()))).caller
    }
    expect(await caller()).toMatchObject({
      productStatuses: ['ACTIVE', 'HIDDEN', 'ARCHIVED'],
      cartPriceSeconds: 86_400,
    })
    await settings(workspaceId, { product_statuses: ['ACTIVE', 'HIDDEN'], cart_price_seconds: 0 })
    await eventually('the new statuses are in the token', async () => (await caller()).productStatuses.length === 2)
    expect((await caller()).cartPriceSeconds).toBe(0)
  })

  test('change the rate limit of the keys in use', async () => {
    const { workspaceId, key } = await gateway.aKey()
    const limit = async () => (await gateway.send(key, 'GET', '/v1/products')).headers['x-ratelimit-limit']
    expect(await limit()).toBe('100000')
    await settings(workspaceId, { rate_limit: { per_second: 1, burst: 7 } })
    await eventually('the new limit is in force', async () => (await limit()) === '7')
  })

  test.each([
    [{ product_statuses: ['ACTIVE', 'DRAFT'] }, 'product_statuses[1]'],
    [{ product_statuses: ['ACTIVE', 'ACTIVE'] }, 'product_statuses'],
    [{ product_statuses: [] }, 'product_statuses'],
    [{ rate_limit: { per_second: 0, burst: 1 } }, 'rate_limit.per_second'],
    [{ rate_limit: { per_second: 1 } }, 'rate_limit.burst'],
    [{ rate_limit: { per_second: 1, burst: 1.5 } }, 'rate_limit.burst'],
    [{ cart_price_seconds: -1 }, 'cart_price_seconds'],
    [{ cart_price_seconds: 31_536_001 }, 'cart_price_seconds'],
    [{ colour: 'red' }, 'colour'],
  ])('refuse %j, naming %s', async (body, path) => {
    const { id } = (await create({ name: 'Shop' })).body
    const answer = await gateway.admin('PUT', `/workspaces/${id}/settings`, body)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
    expect(answer.body.error.message).toContain(`${path}: `)
  })

  test('of an unknown workspace are not_found and leave nothing', async () => {
    expect(await settings(UNKNOWN, {})).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect(await gateway.database.admin`select from settings where workspace_id = ${UNKNOWN}`).toEqual([])
  })
})
