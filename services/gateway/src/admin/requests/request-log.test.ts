import { aCaller, serviceHeadersOf } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { newSecret } from '../../credentials/secret-text.ts'
import { testGateway, unknownKey } from '../../testing/test-gateway.ts'

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

test('while PostgreSQL takes none, memory is bounded, and what was lost is said once', async () => {
  const { workspaceId, id } = await gateway.aKey()
  await gateway.requests.write()
  await admin`alter table request_log add constraint refuse_all check (false) not valid`
  whenDone(() => admin`alter table request_log drop constraint if exists refuse_all`)
  const line = {
    workspace_id: workspaceId,
    key_id: id,
    method: 'GET',
    path: '/v1/products',
    status: 200,
    duration_ms: 1,
  }
  const note = () =>
    gateway.requests.note({ line: { ...line, request_id: crypto.randomUUID() }, errorReason: undefined })
  for (let count = 0; count < 5003; count++) note()
  await expect(gateway.requests.write()).rejects.toThrow(/refuse_all/)
  await admin`alter table request_log drop constraint refuse_all`
  const [before] = await admin<[{ count: number }]>`select count(*)::int from request_log`
  await gateway.requests.write()
  const [after] = await admin<[{ count: number }]>`select count(*)::int from request_log`
  expect(after.count - before.count).toBe(5000)
  expect(gateway.log.filter(({ lost }) => lost !== undefined)).toMatchObject([{ lost: 3 }])
})

test('requests go after seven days, in batches', async () => {
  const { workspaceId, id } = await gateway.aKey()
  await admin`
    insert into request_log (workspace_id, request_id, at, key_id, method, path, status, duration_ms)
    select ${workspaceId}, gen_random_uuid(), now() - make_interval(days => n % 2 * 7, mins => 1), ${id}, 'OLD', '/v1', 200, 1
    from generate_series(1, 2400) as n`
  gateway.takeWorkerStatements()
  await gateway.requests.cleanUp()
  expect(gateway.takeWorkerStatements().filter((text) => text.includes('delete from request_log'))).toHaveLength(2)
  const [left] = await admin<[{ count: number }]>`select count(*)::int from request_log where method = 'OLD'`
  expect(left.count).toBe(1200)
})
