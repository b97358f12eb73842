import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { aCaller, headersOf } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { afterEach, expect, it } from 'vitest'
import { operation } from './operation.ts'
import { createThing, getThing, thingsApi } from './testing/things-api.ts'

const { db } = await testDatabase('catalog')
const lines: Record<string, unknown>[] = []
const write = (level: string) => (line: Record<string, unknown>) => void lines.push({ level, ...line })
const logger: Logger = Object.assign(createLogger('test', 'silent'), { info: write('info'), error: write('error') })

const bug = new Error('a bug')
let isEntered = false
const failing = operation({
  operationId: 'failing',
  method: 'GET',
  path: '/v1/bug',
  summary: 'Fail',
  scope: 'product::read',
  responses: {},
  handle: () => Promise.reject(bug),
})
const hanging = operation({
  operationId: 'hanging',
  method: 'GET',
  path: '/v1/hang',
  summary: 'Hang',
  scope: 'product::read',
  responses: {},
  handle() {
    isEntered = true
    return new Promise(() => undefined)
  },
})
const operations = [createThing, getThing, failing, hanging]
const { port, send } = await thingsApi(db, { operations, logger })

/** The one line there is; a second one would be one too many. */
async function theLine(): Promise<Record<string, unknown>> {
  const line = await eventually('a log line', () => lines[0])
  expect(lines).toHaveLength(1)
  return line
}

afterEach(() => {
  lines.length = 0
})

it('says in one line who asked for what, how it ended and how long it took', async () => {
  const caller = aCaller()
  const { headers } = await send('GET', '/v1/things/7d1c2c1e-57bb-4f0e-9d5c-6a8a6f9d2b11', { caller })
  expect(await theLine()).toEqual({
    level: 'info',
    request_id: headers['x-request-id'],
    method: 'GET',
    path: '/v1/things/:id',
    status: 200,
    duration_ms: expect.any(Number),
    workspace_id: caller.workspaceId,
    key_id: caller.keyId,
  })
})

it.each([
  ['a refused body', 'POST', '/v1/things', { body: { name: '' } }, 400, 'bad_request'],
  ['an unknown operation', 'GET', '/v1/nothing', {}, 404, 'not_found'],
  ['another method', 'PUT', '/v1/things', {}, 405, 'method_not_allowed'],
  ['a path that cannot be read', 'GET', '/v1/things/%ZZ', {}, 400, 'bad_request'],
  ['a stranger', 'GET', '/v1/bug', { caller: null }, 401, 'invalid_api_key'],
])('says of %s why it was refused', async (_what, method, path, sent, status, code) => {
  const { headers } = await send(method, path, sent)
  const refused = { level: 'info', request_id: headers['x-request-id'], method, status, error_code: code }
  expect(await theLine()).toMatchObject({ ...refused, error: expect.any(String) })
})

it('logs the cause of an internal_error, which the caller is not told', async () => {
  const answer = await send('GET', '/v1/bug')
  expect(await theLine()).toMatchObject({ level: 'error', status: 500, error_code: 'internal_error', err: bug })
  expect(JSON.stringify(answer.body)).not.toContain('a bug')
})

it('logs what was no HTTP under the id that was answered', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.end('garbage\r\n\r\n')
  const answered = (await socket.toArray()).join('')
  const line = await theLine()
  expect(line).toMatchObject({ status: 400, error_code: 'bad_request' })
  expect(answered).toContain(`x-request-id: ${line.request_id}\r\n`)
})

it('logs a request whose client left before the answer as 499', async () => {
  const request = httpRequest({ port, path: '/v1/hang', agent: false, headers: await headersOf(aCaller()) })
  request.on('error', () => undefined).end()
  await eventually('the handler runs', () => isEntered)
  request.destroy()
  expect(await theLine()).toMatchObject({ status: 499, path: '/v1/hang' })
})

it.each([
  ['GET', '/v1/bug', 'method="GET",route="/v1/bug",status="5xx"', 'internal_error'],
  ['GET', '/v1/nothing/of-a-client', 'method="GET",route="unknown",status="4xx"', 'not_found'],
  ['PURGE', '/v1/things', 'method="other",route="/v1/things",status="4xx"', 'method_not_allowed'],
])(
  'counts and measures requests by their route, and refusals by their code: %s %s',
  async (method, path, labels, code) => {
    await send(method, path)
    await theLine()
    const text = await metricsText()
    expect(text).toContain(`\nhttp_server_requests_total{${labels}} `)
    expect(text).toContain(`\nhttp_server_request_duration_seconds_count{${labels.replace(/,status.*/, '')}} `)
    expect(text).toMatch(new RegExp(`^http_server_refusals_total\\{code="${code}"\\} \\d+$`, 'm'))
    expect(text).not.toContain('of-a-client')
  },
)

it('gives a request that has no id one, and keeps the gateway’s', async () => {
  const own = await send('GET', '/v1/nothing', { caller: null })
  expect(own.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
  const empty = await send('GET', '/v1/nothing', { caller: null, headers: { 'x-request-id': '' } })
  expect(empty.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
  const given = await send('GET', '/v1/nothing', { caller: null, headers: { 'x-request-id': 'req-7' } })
  expect([given.headers['x-request-id'], given.body]).toMatchObject(['req-7', { error: { request_id: 'req-7' } }])
})

it.each([
  ['sk_live_0198c2f1_abcDEF', 'sk_live_…'],
  ['sk_test_0198c2f1_abcDEF', 'sk_test_…'],
  ['whsec_a+b/c==', 'whsec_…'],
])('cuts a key or secret that is where it does not belong: %s', async (secret, logged) => {
  await send('GET', `/v1/${secret}`, { caller: null })
  expect((await theLine()).error).toBe(`GET /v1/${logged}: no such operation`)
})
