import { beforeEach, expect, test } from 'vitest'
import { exchangeRaw } from '../../testing/raw-http.ts'
import { ADMIN_TOKEN, testGateway } from '../../testing/test-gateway.ts'
import { echo } from '../../testing/test-upstream.ts'

const gateway = await testGateway()
const { catalog } = gateway
const { key } = await gateway.aKey()

beforeEach(() => {
  catalog.answer = echo
  catalog.received.length = 0
})

/** Sends a GET whose target is written as it is; the connection closes after the answer. */
async function get(target: string, token: string) {
  const head = [`GET ${target} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${token}`, 'Connection: close', '', '']
  const answer = await exchangeRaw(gateway.url, head.join('\r\n'))
  return { status: Number(answer.split(' ')[1]), head: (answer.split('\r\n\r\n')[0] ?? '').toLowerCase() }
}

test.each([
  '/%61dmin/v1/workspaces',
  '/admin/%761/workspaces',
  'http://elsewhere/admin/v1/workspaces',
  'HTTPS://elsewhere/%61dmin/v1/workspaces?page=1',
  '/admin/v1/workspaces#there',
])('%s is answered as the admin API, and kept by no cache', async (target) => {
  const answer = await get(target, ADMIN_TOKEN)
  expect(answer.status).toBe(200)
  expect(answer.head).toContain('cache-control: private, no-store\r\nvary: authorization, x-api-key')
})

test.each([
  '/%761/products?a=%61',
  '/v1/%70roducts?a=%61',
  'http://elsewhere/v1/products?a=%61',
  '/v1/products?a=%61#there',
])('%s reaches its service in the one spelling, and is kept by no cache', async (target) => {
  const answer = await get(target, key)
  expect(answer.status).toBe(200)
  expect(answer.head).toContain('cache-control: private, no-store\r\nvary: authorization, x-api-key')
  expect(catalog.received.map(({ url }) => url)).toEqual(['/v1/products?a=%61'])
})

test.each(['/%761/products', 'http://elsewhere/v1/products'])(
  'a flood of wrong keys on %s is refused early, as on /v1/products',
  async (target) => {
    for (let count = 0; count < 100; count++) await get('/v1/products', 'sk_live_x')
    gateway.log.length = 0
    expect((await get(target, 'sk_live_x')).status).toBe(429)
    // The lines of routed requests have a path.
    expect(gateway.log.filter((line) => 'path' in line)).toEqual([])
  },
)
