import { describe, expect, test } from 'vitest'
import { adminOperations } from '../operations.ts'
import { ADMIN_TOKEN, testGateway } from '../testing/test-gateway.ts'

const gateway = await testGateway()
const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  gateway.send(undefined, method, path, { headers, ...(body !== undefined && { body }) })
const asOperator = { authorization: `Bearer ${ADMIN_TOKEN}` }

describe('who may call', () => {
  test.each<[string, Record<string, string>]>([
    ['nobody', {}],
    ['a wrong token', { authorization: 'Bearer nonsense' }],
    ['a token that only starts right', { authorization: `Bearer ${ADMIN_TOKEN}x` }],
    ['another scheme', { authorization: `Basic ${ADMIN_TOKEN}` }],
    ['the token as an API key', { 'x-api-key': ADMIN_TOKEN }],
  ])('%s is invalid_api_key', async (_what, headers) => {
    const answer = await send('POST', '/admin/v1/workspaces', headers, { name: 'Shop' })
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } })
    expect(await gateway.database.admin`select from workspace where name = 'Shop'`).toEqual([])
  })

  test("a workspace's key is no operator, and an operator's token no key", async () => {
    const { key } = await gateway.aKey()
    expect((await send('GET', '/admin/v1/audit', { authorization: `Bearer ${key}` })).status).toBe(401)
    expect((await gateway.send(ADMIN_TOKEN, 'GET', '/v1/products')).status).toBe(401)
  })
})

describe('the shape of refusals', () => {
  test('an unknown path is not_found', async () => {
    for (const path of ['/admin/v1/unknown', '/unknown', '/', '/admin']) {
      const answer = await send('GET', path, asOperator)
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
      expect(answer.body.error.request_id).toBe(answer.headers['x-request-id'])
    }
  })

  test('another method is method_not_allowed with Allow', async () => {
    const answer = await send('DELETE', '/admin/v1/workspaces', asOperator)
    expect(answer).toMatchObject({ status: 405, body: { error: { code: 'method_not_allowed' } } })
    expect(answer.headers.allow).toBe('POST, GET, HEAD')
  })

  test.each([
    ['malformed JSON', '{"name":', 'application/json', 400],
    ['another content type', 'name=Shop', 'application/x-www-form-urlencoded', 415],
    ['a body over the limit', `{"name":"${'x'.repeat(1024 * 1024)}"}`, 'application/json', 413],
    ['a __proto__ key', '{"name":"a","__proto__":{}}', 'application/json', 400],
  ])('%s', async (_what, body, contentType, status) => {
    const answer = await send('POST', '/admin/v1/workspaces', { ...asOperator, 'content-type': contentType }, body)
    expect(answer.status).toBe(status)
    expect(answer.body.error.request_id).toBe(answer.headers['x-request-id'])
  })
})

test('operators read the document of the admin API, which has each operation, and nobody else does', async () => {
  expect((await send('GET', '/admin/v1/openapi.json', {})).status).toBe(401)
  const answer = await gateway.admin<{ paths: Record<string, Record<string, Operation>> }>('GET', '/openapi.json')
  const { paths } = answer.body
  const declared = Object.values(adminOperations).map(({ method, path }) => [path, method.toLowerCase()] as const)
  for (const [path, method] of declared) expect(paths[path]?.[method], `${method} ${path}`).toBeDefined()
  expect(paths['/admin/v1/openapi.json']?.get).toMatchObject({
    operationId: 'getAdminDocument',
    tags: ['openapi.json'],
  })
  expect(paths['/admin/v1/workspaces/{id}']?.get).toEqual({
    tags: ['workspaces'],
    operationId: 'getWorkspace',
    summary: 'Read a workspace with its settings',
    security: [{ operatorToken: [] }],
    parameters: [expect.objectContaining({ name: 'id', in: 'path' })],
    responses: expect.not.objectContaining({ 403: expect.anything() }),
  })
})

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
}
