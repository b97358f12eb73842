import { expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'

const gateway = await testGateway({ rateLimit: { perSecond: 2, burst: 5 } })

/** Sends that many requests one after the other and returns their answers. */
async function calls(key: string, count: number) {
  const answers = []
  for (let sent = 0; sent < count; sent++) answers.push(await gateway.send(key, 'GET', '/v1/products'))
  return answers
}

test('the burst is let through, then 429 says when to come back, and tokens grow back', async () => {
  const { key } = await gateway.aKey()
  const answers = await calls(key, 6)
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])
  expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['4', '3', '2', '1', '0', '0'])
  expect(answers[5]).toMatchObject({
    body: { error: { code: 'rate_limited', request_id: answers[5]?.headers['x-request-id'] } },
    headers: { 'retry-after': '1', 'x-ratelimit-limit': '5' },
  })
  gateway.passTime(1_000)
  expect((await calls(key, 3)).map(({ status }) => status)).toEqual([200, 200, 429])
})

test('a refused call reaches no service', async () => {
  const { key } = await gateway.aKey()
  await calls(key, 5)
  const reached = gateway.catalog.received.length
  await calls(key, 3)
  expect(gateway.catalog.received.length).toBe(reached)
})

test('one key does not use up the calls of another, even in one workspace', async () => {
  const one = await gateway.aKey()
  const other = await gateway.admin<{ key: string }>('POST', `/workspaces/${one.workspaceId}/keys`, {
    name: 'Other',
    scopes: ['*'],
  })
  await calls(one.key, 6)
  expect((await calls(other.body.key, 1))[0]?.status).toBe(200)
})

test('the reset is the second at which the bucket is full again', async () => {
  const { key } = await gateway.aKey()
  const [first, , , , last] = await calls(key, 5)
  expect(first?.headers['x-ratelimit-reset']).toBe(String(Math.ceil((gateway.now() + 500) / 1000)))
  expect(last?.headers['x-ratelimit-reset']).toBe(String(Math.ceil((gateway.now() + 2500) / 1000)))
})

test("the headers are on every answer to a known key: the gateway's refusals and the service's errors", async () => {
  const { key } = await gateway.aKey()
  gateway.catalog.answer = (_request, response) => void response.writeHead(500).end('{}')
  const answers = [
    await gateway.send(key, 'GET', '/v1/unknown'),
    await gateway.send(key, 'POST', '/v1/products', { body: Buffer.alloc(1024 * 1024 + 1) }),
    await gateway.send(key, 'GET', '/v1/products'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 413, 500])
  expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['4', '3', '2'])
  expect(answers.map(({ headers }) => headers['x-ratelimit-limit'])).toEqual(['5', '5', '5'])
})
