import { expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'

const gateway = await testGateway({ rateLimit: { perSecond: 100, burst: 200 } })

interface Me {
  readonly workspace: { id: string; name: string; domain: string | null }
  readonly key: { id: string; name: string; kind: string; created_at: string; expires_at: string | null }
  readonly scopes: string[]
  readonly livemode: boolean
  readonly limits: { requests_per_minute: number; requests_at_once: number }
}
const read = (key: string | undefined) => gateway.send<Me>(key, 'GET', '/v1/me')

test('tells a key of any scope what it is, of which workspace, and what it may send', async () => {
  const { workspaceId, id, key } = await gateway.aKey(['sale::read'])
  const { status, body } = await read(key)
  expect(status).toBe(200)
  expect(body).toEqual({
    workspace: { id: workspaceId, name: 'Test', domain: null },
    key: { id, name: 'Test', kind: 'workspace', created_at: expect.stringMatching(/Z$/), expires_at: null },
    scopes: ['sale::read'],
    livemode: true,
    limits: { requests_per_minute: 6000, requests_at_once: 200 },
  })
})

test("tells a sandbox's key so, and the limit that the workspace has of its own", async () => {
  const { workspaceId, key } = await gateway.aKey(['*'], true)
  await gateway.admin('PUT', `/workspaces/${workspaceId}/settings`, { rate_limit: { per_second: 5, burst: 7 } })
  const { body } = await read(key)
  expect([body.workspace.id, body.livemode]).toEqual([workspaceId, false])
  expect(body.limits).toEqual({ requests_per_minute: 300, requests_at_once: 7 })
})

test('is counted and refused as requests to services are, in every method', async () => {
  const { key } = await gateway.aKey()
  const [first, second] = [await read(key), await gateway.send(key, 'POST', '/v1/me', { body: {} })]
  expect([first.headers['x-ratelimit-remaining'], second.headers['x-ratelimit-remaining']]).toEqual(['199', '198'])
  expect([second.status, second.headers.allow, second.headers['cache-control']]).toEqual([
    405,
    'GET, HEAD',
    'private, no-store',
  ])
  expect((await gateway.send(key, 'GET', '/v1/me?page=1')).status).toBe(400)
  for (const method of ['GET', 'POST']) {
    expect((await gateway.send(undefined, method, '/v1/me')).status).toBe(401)
  }
  expect(gateway.catalog.received).toEqual([])
})

test('takes one statement besides the transaction’s own', async () => {
  const { key } = await gateway.aKey()
  await read(key)
  gateway.database.takeStatements()
  await read(key)
  expect(gateway.database.takeStatements().length).toBeLessThanOrEqual(4)
})
