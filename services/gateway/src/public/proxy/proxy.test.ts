import { type IncomingMessage, request as openRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'
import { type Echo, echo } from '../../testing/test-upstream.ts'

const gateway = await testGateway()
const { catalog } = gateway
const { key } = await gateway.aKey()

beforeEach(() => {
  catalog.answer = echo
  catalog.received.length = 0
})

/** Opens a request whose body the test sends bit by bit. */
function open(method: string, path = '/v1/products') {
  const request = openRequest(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
  request.on('error', () => undefined)
  const answer = new Promise<IncomingMessage>((resolve) => request.on('response', resolve))
  return { request, answer }
}

test('a key whose requests hang, in all places of its own, holds up no other key of its workspace', async () => {
  const { workspaceId, key: app } = await gateway.aKey()
  const merchant = await gateway.anotherKey(workspaceId)
  catalog.answer = (request, response) => (request.url?.endsWith('hang') ? undefined : echo(request, response))
  const hanging = Array.from({ length: 150 }, () =>
    openRequest(`${gateway.url}/v1/products?hang`, { agent: false, headers: { authorization: `Bearer ${app}` } })
      .on('error', () => undefined)
      .end(),
  )
  await eventually('no more get a place', () => catalog.received.length >= 96)
  expect((await gateway.send(merchant, 'GET', '/v1/products')).status).toBe(200)
  expect(catalog.received).toHaveLength(97)
  for (const request of hanging) request.destroy()
})

describe('passing on', () => {
  test('method, path, query and body arrive byte for byte', async () => {
    const body = '{ "name" : "Àdùké \\u0000" }'
    const path = '/v1/products/a%20b%2Fc?q=%E2%9C%93&q=2&%5B%5D='
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await gateway.send<Echo>(key, method, path, { body })
      expect(answer.body).toMatchObject({ method, url: path, body })
    }
  })

  test('what a service answers arrives as it is, its refusals too', async () => {
    const refusal = { error: { code: 'unprocessable', message: 'variants: …', request_id: 'x' } }
    catalog.answer = (_request, response) => void response.writeHead(422).end(JSON.stringify(refusal))
    expect(await gateway.send(key, 'POST', '/v1/products', { body: {} })).toMatchObject({ status: 422, body: refusal })
  })

  test('answers without a body stay without one', async () => {
    catalog.answer = (_request, response) => void response.writeHead(204).end()
    expect(await gateway.send(key, 'DELETE', '/v1/products/1')).toMatchObject({ status: 204, body: undefined })
    catalog.answer = (_request, response) => void response.writeHead(200, { 'content-length': '7' }).end()
    const head = await gateway.send(key, 'HEAD', '/v1/products/1')
    expect(head).toMatchObject({ status: 200, body: undefined, headers: { 'content-length': '7' } })
  })

  test('each resource goes to its own service', async () => {
    await gateway.send(key, 'GET', '/v1/webhooks/event-types')
    expect(catalog.received).toEqual([])
    expect(gateway.webhooks.received.map(({ url }) => url)).toEqual(['/v1/webhooks/event-types'])
  })

  test('what no service answers is not_found and reaches none', async () => {
    for (const path of ['/v1', '/v1/', '/v1/unknown', '/v1/products/../internal', '/v1/products/%2e%2e/internal']) {
      // The URL is written out by hand: a client would resolve the dots itself.
      const { request, answer } = open('GET')
      request.path = path
      request.end()
      const { statusCode } = await answer
      expect([path, statusCode]).toEqual([path, 404])
    }
    expect(catalog.received).toEqual([])
  })

  test('a long path arrives whole, a malformed one is bad_request', async () => {
    const path = `/v1/products/${'a'.repeat(8_000)}`
    expect((await gateway.send<Echo>(key, 'GET', path)).body.url).toBe(path)
    const answer = await gateway.send(key, 'GET', '/v1/products/%zz')
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
    expect(answer.body.error.request_id).toBe(answer.headers['x-request-id'])
  })

  test('connections to a service are used again', async () => {
    const ports = new Set<number | undefined>()
    catalog.answer = (request, response) => {
      ports.add(request.socket.remotePort)
      response.end('{}')
    }
    for (let count = 0; count < 5; count++) await gateway.send(key, 'POST', '/v1/products', { body: {} })
    expect(ports.size).toBe(1)
  })

  test('a request is logged once, with who sent it and where it went', async () => {
    const answer = await gateway.send(key, 'GET', '/v1/products/1?secret=1')
    const requestId = answer.headers['x-request-id']
    await eventually('the line', () => gateway.log.some((line) => line.request_id === requestId))
    expect(gateway.log.filter((line) => line.request_id === requestId)).toEqual([
      expect.objectContaining({ method: 'GET', path: '/v1/products/1', status: 200, upstream: 'catalog' }),
    ])
  })
})

describe('metrics', () => {
  test('a request counts for the route that its service names, which the client does not see', async () => {
    catalog.answer = (_request, response) => void response.writeHead(200, { 'x-route': '/v1/products/:id' }).end('{}')
    const { headers } = await gateway.send(key, 'GET', '/v1/products/1')
    expect(headers).not.toHaveProperty('x-route')
    const counted =
      'http_server_requests_total{method="GET",route="/v1/products/:id",upstream="catalog",status="2xx"} 1'
    await eventually('it is counted', async () => (await metricsText()).includes(counted))
    expect(await metricsText()).toMatch(/^rate_limit_decisions_total\{decision="allowed"\} \d+$/m)
    expect(await metricsText()).toMatch(/^api_keys_presented_total\{memory="hit"\} \d+$/m)
  })

  test('a request whose service does not say counts for the paths of its service', async () => {
    catalog.answer = (_request, response) => void response.writeHead(502).end('{}')
    await gateway.send(key, 'GET', '/v1/products/1/unheard-of')
    const counted = 'http_server_requests_total{method="GET",route="/v1/products/*",upstream="catalog",status="5xx"}'
    await eventually('it is counted', async () => (await metricsText()).includes(counted))
    expect(await metricsText()).not.toContain('unheard-of')
  })
})

describe('streaming', () => {
  test('the service gets the start of an upload before the rest is sent', async () => {
    let arrived = ''
    catalog.answer = async (request, response) => {
      for await (const chunk of request) arrived += chunk
      response.end('{}')
    }
    const { request, answer } = open('POST', '/v1/assets')
    request.write('{"a":')
    await eventually('the start arrives', () => arrived === '{"a":')
    request.end('1}')
    expect((await answer).statusCode).toBe(200)
    expect(arrived).toBe('{"a":1}')
  })

  test('the client gets the start of an answer before the rest is there', async () => {
    let finish = () => {}
    catalog.answer = (_request, response) => {
      response.write('start ')
      finish = () => void response.end('end')
    }
    const { request, answer } = open('GET')
    request.end()
    const response = await answer
    const [start] = await new Promise<[Buffer]>((resolve) => response.once('data', (chunk: Buffer) => resolve([chunk])))
    expect(start.toString()).toBe('start ')
    finish()
    expect(await text(response)).toBe('end')
  })

  test('a service that answers before it has read the body is heard, and the connection goes on', async () => {
    catalog.answer = (_request, response) => void response.writeHead(401).end('{}')
    const { request, answer } = open('POST', '/v1/assets')
    request.write('x'.repeat(100_000))
    const response = await answer
    expect(response.statusCode).toBe(401)
    response.resume()
    request.end('x'.repeat(500_000))
    await eventually('the body is taken', () => request.writableFinished)
    catalog.answer = echo
    expect((await gateway.send(key, 'POST', '/v1/products', { body: {} })).status).toBe(200)
  })
})
