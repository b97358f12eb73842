import { createLogger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { aCaller, serviceHeadersOf } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expectKeptByWrongClock } from '@backoffice/testing/wrong-clock.ts'
import { expect, test } from 'vitest'
import { newSecret } from '../../credentials/secret-text.ts'
import { testGateway, unknownKey } from '../../testing/test-gateway.ts'
import { expireRequests } from './request-log.ts'

const UNKNOWN = '0198c2f1-a3b4-7c5d-8e9f-0123456789ab'
const gateway = await testGateway()
const { admin } = gateway.database
const find = (id: unknown) => gateway.admin<Record<string, unknown>>('GET', `/requests/${id}`)
const sent = async (key: string, method: string, path: string, body?: unknown) =>
  (await gateway.send(key, method, path, { ...(body !== undefined && { body }) })).headers['x-request-id']

test('a request is found by its X-Request-Id, without its query and its body', async () => {
  const { key, id, workspaceId } = await gateway.aKey()
  gateway.catalog.answer = (_request, response) =>
    void response.writeHead(422, { 'error-reason': 'sku_taken' }).end('{}')
  const requestId = await sent(key, 'POST', '/v1/products?email=ada@example.com', { name: 'secret name' })
  await gateway.requests.write()
  const { status, body } = await find(requestId)
  expect(status).toBe(200)
  expect(body).toEqual({
    request_id: requestId,
    at: expect.any(String),
    workspace: workspaceId,
    key_id: id,
    method: 'POST',
    path: '/v1/products',
    route: '/v1/products',
    service: 'catalog',
    status: 422,
    error_reason: 'sku_taken',
    duration_ms: expect.any(Number),
    trace_id: null,
  })
  const rows = await admin`select request_log::text as text from request_log`
  expect(JSON.stringify(rows)).not.toMatch(/ada@|secret name/)
})

test('what the gateway itself refuses is there too, once the key is known', async () => {
  const { key } = await gateway.aKey()
  const refused = await sent(key, 'GET', '/v1/unknown')
  const unknown = await sent(unknownKey(), 'GET', '/v1/products')
  await gateway.requests.write()
  expect((await find(refused)).body).toMatchObject({ status: 404, service: null })
  const headers = await serviceHeadersOf(aCaller(), 'gateway')
  const body = { secret: newSecret().toString('base64'), name: 'Pay', scopes: ['sale'] }
  const internal = await gateway.send(undefined, 'PUT', `/internal/app-keys/${UNKNOWN}`, { headers, body })
  await gateway.requests.write()
  for (const id of [unknown, internal.headers['x-request-id'], UNKNOWN]) expect((await find(id)).status).toBe(404)
})

test('no request waits for the log: it writes nothing before its turn, then all with one statement', async () => {
  const { key } = await gateway.aKey()
  await sent(key, 'GET', '/v1/products')
  await gateway.requests.write()
  gateway.takeWorkerStatements()
  const ids = await Promise.all(Array.from({ length: 20 }, () => sent(key, 'GET', '/v1/products')))
  expect(gateway.takeWorkerStatements().filter((text) => text.includes('request_log'))).toEqual([])
  await gateway.requests.write()
  expect(gateway.takeWorkerStatements().filter((text) => text.includes('request_log'))).toHaveLength(1)
  expect((await find(ids.at(-1))).status).toBe(200)
})

/** Notes a request of a workspace, and returns its id. */
function note(workspace: { workspaceId: string; id: string }, status: unknown = 200): string {
  const request_id = crypto.randomUUID()
  const line = { workspace_id: workspace.workspaceId, key_id: workspace.id, method: 'GET', path: '/v1/products' }
  gateway.requests.note({ line: { ...line, request_id, status, duration_ms: 1 }, errorReason: undefined })
  return request_id
}
const noteMany = (workspace: { workspaceId: string; id: string }, count: number) =>
  Array.from({ length: count }, () => note(workspace))
const rowsOf = async ({ workspaceId }: { workspaceId: string }) =>
  (await admin`select from request_log where workspace_id = ${workspaceId}`).count

test('while PostgreSQL takes none, memory is bounded, and what was lost is said once', async () => {
  const workspace = await gateway.aKey()
  await gateway.requests.write()
  gateway.log.length = 0
  await admin`alter table request_log rename to request_log_away`
  whenDone(() => admin`alter table if exists request_log_away rename to request_log`)
  noteMany(workspace, 5003)
  await expect(gateway.requests.write()).rejects.toThrow(/request_log/)
  await admin`alter table request_log_away rename to request_log`
  await gateway.requests.write()
  expect(await rowsOf(workspace)).toBe(5000)
  expect(gateway.log.filter(({ lost }) => lost !== undefined)).toMatchObject([{ lost: 3 }])
})

test('the flood of one workspace leaves room for the requests of others', async () => {
  const [flooding, other] = [await gateway.aKey(), await gateway.aKey()]
  await gateway.requests.write()
  noteMany(flooding, 6000)
  noteMany(other, 10)
  noteMany(flooding, 1000)
  await gateway.requests.write()
  expect([await rowsOf(flooding), await rowsOf(other)]).toEqual([4990, 10])
})

test('a request that PostgreSQL refuses is dropped alone, and the log and a metric say so', async () => {
  const workspace = await gateway.aKey()
  await gateway.requests.write()
  const before = noteMany(workspace, 20)
  const refused = note(workspace, 70_000)
  const after = noteMany(workspace, 20)
  await gateway.requests.write()
  expect(await rowsOf(workspace)).toBe(40)
  for (const id of [before[0], after[19]]) expect((await find(id)).status).toBe(200)
  expect(gateway.log.filter(({ logged_request }) => logged_request)).toMatchObject([{ logged_request: refused }])
  expect(await metricsText()).toMatch(/^request_log_lost_total\{why="refused"\} 1$/m)
  const next = note(workspace)
  await gateway.requests.write()
  expect((await find(next)).status).toBe(200)
})

test('requests go after seven days, in batches, but none while the clocks of database and host are more than a day apart', async () => {
  const { workspaceId, id } = await gateway.aKey()
  await admin`
    insert into request_log (workspace_id, request_id, at, key_id, method, path, status, duration_ms)
    select ${workspaceId}, gen_random_uuid(), now() - make_interval(days => n % 2 * 7, mins => 1), ${id}, 'OLD', '/v1', 200, 1
    from generate_series(1, 2400) as n`
  gateway.takeWorkerStatements()
  const left = async () => (await admin`select from request_log where method = 'OLD'`).count
  await expectKeptByWrongClock(
    () => expireRequests(gateway.worker, createLogger('test', 'silent')),
    async () => (await left()) > 1200,
  )
  expect(await left()).toBe(1200)
  const isDelete = (text: string) => text.includes('delete from request_log')
  expect(gateway.takeWorkerStatements().filter(isDelete)).toHaveLength(2)
})
