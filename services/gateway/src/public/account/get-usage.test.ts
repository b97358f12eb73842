import type { WebhookUsage } from '@backoffice/contracts/usage.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expectKeptByWrongClock } from '@backoffice/testing/wrong-clock.ts'
import { beforeEach, expect, test } from 'vitest'
import type { z } from 'zod'
import { testGateway } from '../../testing/test-gateway.ts'
import { echo } from '../../testing/test-upstream.ts'
import { expireCounts } from '../proxy/request-counts.ts'

interface Usage {
  readonly stored_bytes: { assets: number; imports: number }
  readonly webhook_endpoints: number
  readonly days: {
    day: string
    requests: number
    rate_limited: number
    events: number
    deliveries: number
    failures: number
  }[]
}

const gateway = await testGateway()
const DAY_MS = 86_400_000
const day = (fromToday = 0) => new Date(gateway.now() + fromToday * DAY_MS).toISOString().slice(0, 10)
const read = (key: string, query = '') => gateway.send<Usage>(key, 'GET', `/v1/usage${query}`)
const requestsOf = async (key: string) => (await read(key)).body.days.at(-1)?.requests

const answerWith =
  (answer: object): typeof echo =>
  (_request, response) =>
    void response.end(JSON.stringify(answer))
let webhooks: z.output<typeof WebhookUsage> = { endpoints: 0, days: [] }
let failures: object | 'BROKEN' = { days: [] }
beforeEach(() => {
  const byPath =
    (path: string, answer: () => object): typeof echo =>
    (request, response) =>
      request.url?.startsWith(path) ? answerWith(answer())(request, response) : echo(request, response)
  gateway.catalog.answer = byPath('/internal/stored-bytes', () => ({ bytes: 7 }))
  gateway.imports.answer = byPath('/internal/stored-bytes', () => ({ bytes: 8 }))
  gateway.webhooks.answer = (request, response) =>
    request.url?.startsWith('/internal/failures')
      ? typeof failures === 'object'
        ? answerWith(failures)(request, response)
        : void response.writeHead(500).end('{}')
      : byPath('/internal/usage', () => webhooks)(request, response)
})

test('sums the requests of a workspace by day over all replicas, once they have written them', async () => {
  const replica = await testGateway({ database: gateway.database, rateLimit: { perSecond: 0.001, burst: 2 } })
  const [{ key, workspaceId }, other] = [await gateway.aKey(), await gateway.aKey()]
  for (let count = 0; count < 3; count++) await gateway.send(key, 'GET', '/v1/products')
  const statuses: number[] = []
  for (let count = 0; count < 5; count++) statuses.push((await replica.send(key, 'GET', '/v1/products')).status)
  expect(statuses).toEqual([200, 200, 429, 429, 429])
  await gateway.send('sk_live_x', 'GET', '/v1/products')
  await eventually('both have counted', async () => {
    await Promise.all([gateway.counts.write(), replica.counts.write()])
    const [row] = await gateway.database.admin`
      select requests::integer from daily_requests where workspace_id = ${workspaceId}`
    return row?.requests === 8
  })
  const { status, body } = await read(key)
  expect([status, body.days.at(-1)]).toEqual([
    200,
    { day: day(), requests: 8, rate_limited: 3, events: 0, deliveries: 0, failures: 0 },
  ])
  expect(await requestsOf(other.key)).toBe(0)
})

test('does not count what support asks for', async () => {
  const { key, workspaceId } = await gateway.aKey()
  const path = `/workspaces/${workspaceId}/support-sessions`
  const { body } = await gateway.admin<{ token: string }>('POST', path, {})
  for (const one of [body.token, key]) await gateway.send(one, 'GET', '/v1/products')
  await gateway.counts.write()
  expect(await requestsOf(key)).toBe(1)
})

test('tells files and endpoints of now, and a line for each day of the last thirty', async () => {
  webhooks = { endpoints: 2, days: [{ day: day(-2), events: 5, deliveries: 9 }] }
  failures = { days: [{ day: day(-2), failures: 4 }] }
  const { key } = await gateway.aKey(['workspace::read'])
  const { body } = await read(key)
  expect(body).toMatchObject({ stored_bytes: { assets: 7, imports: 8 }, webhook_endpoints: 2 })
  expect(body.days.map((one) => one.day)).toEqual(Array.from({ length: 30 }, (_, index) => day(index - 29)))
  const line = { day: day(-2), requests: 0, rate_limited: 0, events: 5, deliveries: 9 }
  expect(body.days.at(-3)).toEqual({ ...line, failures: 4 })
  failures = 'BROKEN'
  expect((await read(key)).status).toBe(503)
  failures = { days: [] }
  webhooks = { endpoints: 0, days: [] }
})

test.each([
  ['since=-3', (range: string) => range, [-3, -2, -1, 0]],
  ['since=-3&until=-1', (range: string) => range, [-3, -2]],
  ['since=-100&until=-88', (range: string) => range, [-89]],
  ['since=1', (range: string) => range, []],
])('%s: from that day on and before the other, of those that are kept', async (range, _as, expected) => {
  const { key } = await gateway.aKey()
  const query = range.replaceAll(/-?\d+/g, (days) => day(Number(days)))
  expect((await read(key, `?${query}`)).body.days.map((one) => one.day)).toEqual(expected.map((one) => day(one)))
})

test('a day that is none is bad_request, and another scope is not enough', async () => {
  const { key } = await gateway.aKey()
  const refused = await gateway.send(key, 'GET', '/v1/usage?since=2026-02-30')
  expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('since')])
  const product = await gateway.aKey(['product', 'webhook'])
  expect((await gateway.send(product.key, 'GET', '/v1/usage')).status).toBe(403)
})

test.each([
  ['does not answer', answerWith({ error: { code: 'not_found', message: 'no such operation', request_id: 'x' } })],
  ['breaks off', (_request, response) => void response.write('{"endpoints":', () => response.destroy())],
  ['answers no JSON', (_request, response) => void response.end('<html>')],
] as [string, typeof echo][])('is service_unavailable while a service that knows a part %s', async (_what, answer) => {
  const { key } = await gateway.aKey()
  gateway.webhooks.answer = answer
  expect(await gateway.send(key, 'GET', '/v1/usage')).toMatchObject({
    status: 503,
    body: { error: { code: 'service_unavailable', message: expect.stringContaining('webhook-delivery') } },
  })
})

test('is service_unavailable while a service does not answer in time', async () => {
  const limits = { connectMs: 2_000, answerMs: 300, slots: { slots: 8, share: 8, waiting: 0, waitMs: 1_000 } }
  const impatient = await testGateway({ database: gateway.database, limits })
  const { key } = await gateway.aKey()
  for (const service of [impatient.catalog, impatient.imports, impatient.webhooks]) service.answer = () => undefined
  const { status, body } = await impatient.send(key, 'GET', '/v1/usage')
  expect([status, body.error.code]).toEqual([503, 'service_unavailable'])
})

test('what cannot be written is kept and written later, and that of a deleted workspace is not', async () => {
  const [{ workspaceId }, deleted] = [await gateway.aKey(), await gateway.aKey()]
  const { admin } = gateway.database
  await gateway.admin('DELETE', `/workspaces/${deleted.workspaceId}`)
  for (const id of [workspaceId, deleted.workspaceId]) gateway.counts.note(id, new Date(gateway.now()), 200)
  const [{ role }] = await admin<[{ role: string }]>`
    select grantee::text as role from information_schema.role_table_grants
    where table_name = 'daily_requests' and privilege_type = 'DELETE' and grantee like '%worker%' limit 1`
  await admin`revoke insert on daily_requests from ${admin(role)}`
  await expect(gateway.counts.write()).rejects.toThrow('permission denied')
  await admin`grant insert on daily_requests to ${admin(role)}`
  gateway.counts.note(workspaceId, new Date(gateway.now()), 429)
  await gateway.counts.write()
  const rows = await admin`
    select requests::integer, rate_limited::integer from daily_requests
    where workspace_id in (${workspaceId}, ${deleted.workspaceId})`
  expect([...rows]).toEqual([{ requests: 2, rate_limited: 1 }])
})

test('writes the counts of all workspaces with one statement, and none when nothing came', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, () => gateway.aKey()))
  await gateway.counts.write()
  gateway.takeWorkerStatements()
  for (const { workspaceId } of keys) gateway.counts.note(workspaceId, new Date(gateway.now()), 200)
  await gateway.counts.write()
  await gateway.counts.write()
  expect(gateway.takeWorkerStatements().filter((text) => text.includes('daily_requests'))).toHaveLength(1)
})

test('keeps ninety days, and more while the clocks of database and host are more than a day apart', async () => {
  const { workspaceId } = await gateway.aKey()
  const { admin } = gateway.database
  await admin`
    insert into daily_requests (workspace_id, day, requests, rate_limited)
    select ${workspaceId}, (now() at time zone 'UTC')::date - age, 1, 0 from unnest(${[0, 89, 90, 200]}::integer[]) as age`
  const days = async () => (await admin`select from daily_requests where workspace_id = ${workspaceId}`).count
  await expectKeptByWrongClock(
    () => expireCounts(gateway.worker, createLogger('test', 'silent')),
    async () => (await days()) > 2,
  )
  expect(await days()).toBe(2)
})
