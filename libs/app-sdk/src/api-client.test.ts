import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { apiClient } from './api-client.ts'

/** A client of a server that answers as told. */
async function clientOf(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
  options: { timeoutMs?: number } = {},
) {
  const server = createServer(answer)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return apiClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'sk_live_1', ...options })
}

const PAYMENT = {
  params: { path: { id: '0198c7a0-0000-7000-8000-000000000001' } },
  body: { amount: 1, currency: 'NGN', provider: 'example-pay', reference: 'r' },
}
const OF_API = '{"error":{"code":"conflict","message":"is cancelled","request_id":"r-1"}}'

it.each<[string, number, string, string]>([
  ['502 without a body', 502, '', 'service_unavailable'],
  ['504 with a page', 504, '<h1>504 Gateway Time-out</h1>', 'gateway_timeout'],
  ['429 with another JSON', 429, '{"message":"slow down"}', 'rate_limited'],
  ['403 with a JSON text', 403, '"no"', 'unexpected_answer'],
  ['302 that leads nowhere', 302, '', 'unexpected_answer'],
])('an answer of a load balancer is an error of the documented form: %s', async (_, status, body, code) => {
  const api = await clientOf((_request, response) => {
    response.writeHead(status, { 'x-request-id': 'r-1', 'content-length': body.length }).end(body)
  })
  const { data, error, response } = await api.POST('/v1/orders/{id}/payments', PAYMENT)
  const message = `the server answered ${status} without an error of the API`
  expect([data, error, response.status]).toEqual([undefined, { error: { code, message, request_id: 'r-1' } }, status])
})

it('an error of the API is handed on as it is, with its headers', async () => {
  const api = await clientOf((_request, response) => {
    response.writeHead(409, { 'error-reason': 'state_forbids' }).end(OF_API)
  })
  const { error, response } = await api.POST('/v1/orders/{id}/payments', PAYMENT)
  expect([error, response.headers.get('error-reason')]).toEqual([JSON.parse(OF_API), 'state_forbids'])
})

it('304 is no error', async () => {
  const api = await clientOf((_request, response) => response.writeHead(304).end())
  const { error, response } = await api.GET('/v1/products', { headers: { 'if-none-match': '"1"' } })
  expect([error, response.status]).toEqual(['', 304])
})

it('a call fails after the timeout, unless it has a signal of its own', async () => {
  const over = Promise.withResolvers<void>()
  const api = await clientOf(
    ({ url }, response) => {
      if (url === '/v1/tags') void over.promise.then(() => response.end('{"items":[]}'))
    },
    { timeoutMs: 50 },
  )
  const own = api.GET('/v1/tags', { signal: new AbortController().signal })
  for (const options of [{}, { signal: undefined as unknown as AbortSignal }])
    await expect(api.GET('/v1/products', options)).rejects.toThrow(expect.objectContaining({ name: 'TimeoutError' }))
  over.resolve()
  expect((await own).data).toEqual({ items: [] })
})

it('a middleware may send another request', async () => {
  const api = await clientOf(({ headers }, response) => response.end(JSON.stringify({ items: [headers['x-other']] })))
  api.use({ onRequest: ({ request }) => new Request(request, { headers: { 'x-other': 'yes' } }) })
  expect((await api.GET('/v1/tags')).data).toEqual({ items: ['yes'] })
})

it('a body with a file is sent as a form, the file after the other members', async () => {
  let sent: [string, unknown][] = []
  const api = await clientOf(async (request, response) => {
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    sent = [...(await new Response(await buffer(request), { headers }).formData())]
    response.writeHead(201).end('{}')
  })
  const file = new File(['sku,stock\n'], 'stock.csv')
  await api.POST('/v1/imports', { body: { file, template: 'stock' } })
  expect(sent.map(([name]) => name)).toEqual(['template', 'file'])
  const [[, template], [, received]] = sent as [[string, string], [string, File]]
  expect([template, received.name, await received.text()]).toEqual(['stock', 'stock.csv', 'sku,stock\n'])
})

it('an answer that is no JSON is read as text or as a stream', async () => {
  const api = await clientOf((_request, response) => response.end('row,column\n'))
  const call = { params: { path: { id: '0198c7a0-0000-7000-8000-000000000001' } } }
  const file = await api.GET('/v1/imports/{id}/errors.csv', { ...call, parseAs: 'text' })
  expect(file.data).toBe('row,column\n')
  const { data: progress } = await api.GET('/v1/imports/{id}/progress', { ...call, parseAs: 'stream' })
  expect(progress).toBeInstanceOf(ReadableStream)
})
