import { expect, test } from 'vitest'
import { startGatewayProcess } from './testing/gateway-process.ts'

test('a gateway that starts while Kafka is away serves the admin API and knows the keys that it makes', async () => {
  const gateway = await startGatewayProcess({ KAFKA_BROKERS: '127.0.0.1:1' })
  const admin = async <Body>(path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${gateway.adminToken}`, 'content-type': 'application/json' }
    const answer = await fetch(`${gateway.url}/admin/v1${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return (await answer.json()) as Body
  }
  const { id } = await admin<{ id: string }>('/workspaces', { name: 'Shop' })
  const { key } = await admin<{ key: string }>(`/workspaces/${id}/keys`, { name: 'Key', scopes: ['*'] })
  const answer = await fetch(`${gateway.url}/v1/products`, { headers: { authorization: `Bearer ${key}` } })
  // A key that is found has a rate limit. Only the service behind the gateway is missing.
  expect(answer.headers.has('x-ratelimit-limit')).toBe(true)
  expect(answer.status).toBe(503)
  expect(await (await fetch(`${gateway.opsUrl}/readyz`)).text()).toContain(
    'ready; Kafka has not answered since the start: Connection error: connect ECONNREFUSED 127.0.0.1:1;',
  )
})
