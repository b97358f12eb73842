import { ROUTED_SERVICES, urlSetting } from '@backoffice/contracts/services.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { TOKEN_SETTINGS } from '@backoffice/testing/caller.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { expect, test } from 'vitest'
import { GatewayConfig } from '../config.ts'
import { startGatewayProcess } from '../testing/gateway-process.ts'

const ADMIN_PORT = await freePort()
const gateway = await startGatewayProcess({ ADMIN_PORT: String(ADMIN_PORT) })
const adminUrl = `http://127.0.0.1:${ADMIN_PORT}`

const statusOf = async (url: string, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${gateway.adminToken}`, 'content-type': 'application/json' }
  return (await fetch(url, { headers, ...init })).status
}

test('with ADMIN_PORT the admin API is on that port only', async () => {
  expect(await statusOf(`${adminUrl}/admin/v1/workspaces`)).toBe(200)
  for (const path of ['/admin/v1/workspaces', '/admin/v1', '/admin'])
    expect([path, await statusOf(`${gateway.url}${path}`)]).toEqual([path, 404])
})

test('with ADMIN_PORT that port has nothing else', async () => {
  for (const path of ['/v1/products', '/v1', '/openapi.json', '/docs', '/assets/a/b/c.jpg', '/internal/app-keys'])
    expect([path, await statusOf(`${adminUrl}${path}`)]).toEqual([path, 404])
  expect(await statusOf(`${gateway.url}/v1/products`)).toBe(401)
})

test('with ADMIN_PORT operators log in to the console on that port, and keys on the other', async () => {
  const login = async (url: string, origin: string, credential: string) => {
    const headers = { 'x-requested-with': 'console', origin, 'content-type': 'application/json' }
    const body = JSON.stringify({ credential })
    const answer = await fetch(`${url}/console/session`, { method: 'POST', headers, body })
    return { status: answer.status, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  }
  expect((await login(gateway.url, 'http://127.0.0.1', gateway.adminToken)).status).toBe(401)
  const { status, cookie } = await login(adminUrl, adminUrl, gateway.adminToken)
  expect([status, cookie]).toEqual([201, expect.stringMatching(/^operator=cs_live_/)])
  expect((await login(adminUrl, 'http://elsewhere', gateway.adminToken)).status).toBe(403)
  const headers = { cookie, 'x-requested-with': 'console' }
  expect(await statusOf(`${adminUrl}/console/api/admin/v1/workspaces`, { headers })).toBe(200)
  expect(await statusOf(`${gateway.url}/console/api/admin/v1/workspaces`, { headers })).toBe(401)
  for (const path of ['/console/api/v1/products', '/console/api', '/console/api/collections'])
    expect([path, await statusOf(`${adminUrl}${path}`, { headers })]).toEqual([path, 404])
  for (const url of [adminUrl, gateway.url]) expect(await statusOf(`${url}/console`, { headers: {} })).toBe(200)
})

test('its requests have the limits and the error body of the public port', async () => {
  const answer = await fetch(`${adminUrl}/admin/v1/workspaces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'x'.repeat(1024 * 1024) }),
  })
  expect(answer.status).toBe(413)
  expect(await answer.json()).toMatchObject({
    error: { code: 'payload_too_large', request_id: answer.headers.get('x-request-id') },
  })
})

test.each([
  { PORT: '8080', ADMIN_PORT: '8080' },
  { PORT: '8080', ADMIN_PORT: '8081' },
  { PORT: '8080', OPS_PORT: '9090', ADMIN_PORT: '9090' },
])('a port that is taken by the process itself is refused by name: %j', (ports) => {
  const settings = {
    ...Object.fromEntries(ROUTED_SERVICES.map((name) => [urlSetting(name), 'http://127.0.0.1:9'])),
    ...TOKEN_SETTINGS,
    DATABASE_URL: 'postgres://127.0.0.1/test',
    WORKER_DATABASE_URL: 'postgres://127.0.0.1/test',
    KAFKA_BROKERS: '127.0.0.1:9',
    SCHEMA_REGISTRY_URL: 'http://127.0.0.1:9',
    ADMIN_TOKEN: gateway.adminToken,
    PUBLIC_URL: 'http://127.0.0.1',
    ASSETS_URL: 'http://127.0.0.1/assets',
  }
  expect(() => readConfig(GatewayConfig, { ...settings, ...ports })).toThrow(/ADMIN_PORT: must differ from PORT/)
})

test('SIGTERM ends both listeners, and the process exits 0', async () => {
  expect(await gateway.end('SIGTERM')).toBe(0)
  for (const url of [adminUrl, gateway.url]) await expect(fetch(url)).rejects.toThrow('fetch failed')
})
