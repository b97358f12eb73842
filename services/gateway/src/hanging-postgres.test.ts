import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { startGatewayProcess } from './testing/gateway-process.ts'
import { hangingServer } from './testing/hanging-server.ts'

const { appUrl, workerUrl } = await testDatabase('gateway')
const postgres = await hangingServer(new URL(appUrl))
const through = (url: string) => Object.assign(new URL(url), { hostname: '127.0.0.1', port: postgres.port }).href
const gateway = await startGatewayProcess({ DATABASE_URL: through(appUrl), WORKER_DATABASE_URL: through(workerUrl) })

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
async function admin<Body>(path: string, body: unknown): Promise<Body> {
  const { headers } = bearer(gateway.adminToken)
  const answer = await fetch(`${gateway.url}/admin/v1${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Body
}
const readiness = async () => (await fetch(`${gateway.opsUrl}/readyz`)).text()

test('while PostgreSQL hangs, the probe and requests with keys are answered, and afterwards all is as before', async () => {
  const { id } = await admin<{ id: string }>('/workspaces', { name: 'Shop' })
  const newKey = () => admin<{ key: string }>(`/workspaces/${id}/keys`, { name: 'Key', scopes: ['*'] })
  const keys = [await newKey(), await newKey(), await newKey()].map(({ key }) => key)
  const operator = await admin<{ token: string }>('/operators', { name: 'Ada' })
  postgres.hang()

  expect(await Promise.all([readiness(), readiness()])).toEqual([
    'not ready: gateway probe, gateway worker probe\n',
    'not ready: gateway probe, gateway worker probe\n',
  ])
  const refused = { error: expect.objectContaining({ code: 'service_unavailable' }) }
  for (const request of [
    ...keys.map((key) => fetch(`${gateway.url}/v1/products`, bearer(key))),
    fetch(`${gateway.url}/v1/products`, bearer(`sk_live_${'a'.repeat(40)}`)),
    fetch(`${gateway.url}/admin/v1/workspaces`, bearer(operator.token)),
  ]) {
    const answer = await request
    // Whether a text that cannot be a key is one takes no look-up.
    if (answer.status !== 401) expect(await answer.json()).toEqual(refused)
  }

  postgres.goOn()
  await eventually('it is ready', async () => (await readiness()) === 'ready\n')
  // A key that is found has a rate limit.
  const answer = await fetch(`${gateway.url}/v1/products`, bearer(keys[0] ?? ''))
  expect(answer.headers.has('x-ratelimit-limit')).toBe(true)
  expect((await fetch(`${gateway.url}/admin/v1/workspaces`, bearer(operator.token))).status).toBe(200)
})
