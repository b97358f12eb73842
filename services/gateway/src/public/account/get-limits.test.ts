import type { Limits } from '@backoffice/contracts/usage.ts'
import { beforeEach, expect, test } from 'vitest'
import type { z } from 'zod'
import { testGateway } from '../../testing/test-gateway.ts'

type LimitsBody = z.output<typeof Limits>

const gateway = await testGateway({ rateLimit: { perSecond: 100, burst: 200 } })
const UNKNOWN = '0198c2f1-a3b4-7c5d-8e9f-0123456789ab'
const read = (key: string) => gateway.send<LimitsBody>(key, 'GET', '/v1/limits')
const readAsOperator = (workspace: string) => gateway.admin<LimitsBody>('GET', `/workspaces/${workspace}/limits`)

const OF_SERVICES = {
  catalog: { name: 'asset_bytes', used: 7, most: 20 },
  imports: { name: 'import_bytes', used: 0, most: 30 },
  'webhook-delivery': { name: 'webhook_endpoints', used: 500, most: 500 },
}
const upstreams = Object.keys(OF_SERVICES) as (keyof typeof OF_SERVICES)[]
beforeEach(() => {
  for (const name of upstreams) {
    gateway.services[name].received.length = 0
    gateway.services[name].answer = (request, response) =>
      request.url === '/internal/limits'
        ? void response.end(JSON.stringify({ limits: [OF_SERVICES[name]] }))
        : void response.writeHead(404).end()
  }
})

test('a workspace and an operator read each limit with what there is of it, by a call to each service', async () => {
  const { key, workspaceId } = await gateway.aKey(['workspace::read'])
  const limits = [
    { name: 'requests_per_minute', used: null, most: 6000 },
    { name: 'requests_at_once', used: null, most: 200 },
    ...Object.values(OF_SERVICES),
  ]
  const { status, body } = await read(key)
  expect([status, body]).toEqual([200, { limits, unanswered: [] }])
  expect((await readAsOperator(workspaceId)).body).toEqual(body)
  expect(upstreams.map((name) => gateway.services[name].received.length)).toEqual([2, 2, 2])
})

test('members that a later version of a service adds are left out', async () => {
  const { workspaceId } = await gateway.aKey()
  const later = { limits: [{ ...OF_SERVICES.catalog, unit: 'bytes' }], more: true }
  gateway.catalog.answer = (_request, response) => void response.end(JSON.stringify(later))
  const { body } = await readAsOperator(workspaceId)
  expect(body.unanswered).toEqual([])
  expect(body.limits[2]).toEqual(OF_SERVICES.catalog)
})

test('the limit of requests is the one that the workspace has of its own', async () => {
  const { key, workspaceId } = await gateway.aKey(['*'], true)
  await gateway.admin('PUT', `/workspaces/${workspaceId}/settings`, { rate_limit: { per_second: 5, burst: 7 } })
  const mosts = ({ body }: { body: LimitsBody }) => body.limits.slice(0, 2).map(({ most }) => most)
  expect([mosts(await read(key)), mosts(await readAsOperator(workspaceId))]).toEqual([
    [300, 7],
    [300, 7],
  ])
})

test('a service that does not answer is named, one that refuses too, and the others are told', async () => {
  const { workspaceId } = await gateway.aKey()
  gateway.services['webhook-delivery'].answer = (_request, response) => void response.destroy()
  gateway.catalog.answer = (_request, response) => void response.writeHead(404).end('{"error":{"code":"not_found"}}')
  const { status, body } = await readAsOperator(workspaceId)
  expect([status, body.unanswered.toSorted()]).toEqual([200, ['catalog', 'webhook-delivery']])
  expect(body.limits.map(({ name }) => name)).toEqual(['requests_per_minute', 'requests_at_once', 'import_bytes'])
})

test('another scope is not enough, and an unknown workspace is not_found', async () => {
  const { key } = await gateway.aKey(['product', 'webhook'])
  expect((await gateway.send(key, 'GET', '/v1/limits')).status).toBe(403)
  expect((await readAsOperator(UNKNOWN)).status).toBe(404)
})
