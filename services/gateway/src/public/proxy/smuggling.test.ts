import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { exchangeRaw } from '../../testing/raw-http.ts'
import { testGateway } from '../../testing/test-gateway.ts'
import { type Echo, echo } from '../../testing/test-upstream.ts'

const gateway = await testGateway()
const { catalog } = gateway
const { key } = await gateway.aKey()
const HIDDEN = 'GET /v1/products/hidden HTTP/1.1\r\nHost: a\r\n\r\n'

beforeEach(() => {
  catalog.answer = echo
  catalog.received.length = 0
})

/** A POST with the given header lines and bytes after them; the connection closes after the answer. */
const post = (lines: string[], after: string) =>
  [
    `POST /v1/products HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${key}`,
    'Connection: close',
    ...lines,
    '',
    after,
  ].join('\r\n')

describe('a request whose end could be read in two ways is refused and reaches no service', () => {
  test.each<[string, string]>([
    [
      'Content-Length and Transfer-Encoding',
      post(['Content-Length: 5', 'Transfer-Encoding: chunked'], `0\r\n\r\n${HIDDEN}`),
    ],
    ['two lengths', post(['Content-Length: 0', `Content-Length: ${HIDDEN.length}`], HIDDEN)],
    ['a list of lengths', post([`Content-Length: 0, ${HIDDEN.length}`], HIDDEN)],
    ['a signed length', post(['Content-Length: +5'], HIDDEN)],
    ['a negative length', post(['Content-Length: -1'], HIDDEN)],
    ['a length in hexadecimal', post(['Content-Length: 0x5'], HIDDEN)],
    ['an encoding that is not chunked last', post(['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${HIDDEN}`)],
    ['chunked written wrong', post(['Transfer-Encoding: xchunked'], `0\r\n\r\n${HIDDEN}`)],
    ['a space before the colon', post(['Transfer-Encoding : chunked'], `0\r\n\r\n${HIDDEN}`)],
    ['a folded header', post(['X-A: b', ' Transfer-Encoding: chunked'], `0\r\n\r\n${HIDDEN}`)],
    ['a chunk size that is none', post(['Transfer-Encoding: chunked'], `g\r\n\r\n${HIDDEN}`)],
    ['a chunk longer than its size', post(['Transfer-Encoding: chunked'], `1\r\nab\r\n0\r\n\r\n${HIDDEN}`)],
    ['a bare carriage return in a header', post(['X-A: b\rTransfer-Encoding: chunked'], HIDDEN)],
    ['a NUL in a header', post(['X-A: b\0c'], '')],
    ['a header without a name', post([': b'], '')],
    ['headers over 16 KiB', post([`X-A: ${'a'.repeat(20_000)}`], '')],
    [
      'a thousand headers of 20 bytes',
      post(
        Array.from({ length: 1000 }, (_, index) => `X-${index}: 0123456789`),
        '',
      ),
    ],
    ['an HTTP version that is none', `GET /v1/products HTTP/9.9\r\nHost: a\r\n\r\n`],
    ['no Host', `GET /v1/products HTTP/1.1\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`],
  ])('%s', async (_what, bytes) => {
    const answer = await exchangeRaw(gateway.url, bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    const refused: ErrorBody = JSON.parse(body)
    expect(refused.error.code).toBe('bad_request')
    expect(head.toLowerCase()).toContain(`x-request-id: ${refused.error.request_id}`)
    expect(catalog.received.filter((request) => request.complete)).toEqual([])
  })
})

test('a request inside a body stays a body', async () => {
  const answer = await exchangeRaw(
    gateway.url,
    post(['Content-Type: application/json', `Content-Length: ${HIDDEN.length}`], HIDDEN),
  )
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(catalog.received.map(({ url }) => url)).toEqual(['/v1/products'])
  expect(answer).toContain('"body":"GET /v1/products/hidden')
})

test('trailers of a chunked body are not headers', async () => {
  const chunked = '2\r\n{}\r\n0\r\nX-Internal-Token: forged\r\n\r\n'
  const answer = await exchangeRaw(
    gateway.url,
    post(['Content-Type: application/json', 'Transfer-Encoding: chunked'], chunked),
  )
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(answer).not.toContain('forged')
})

test('requests sent one behind the other are answered in their order', async () => {
  const one = (path: string, connection: string) =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\nX-Api-Key: ${key}\r\n\r\n`
  const answer = await exchangeRaw(gateway.url, one('/v1/products/1', 'keep-alive') + one('/v1/products/2', 'close'))
  const urls = [...answer.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url)
  expect(urls).toEqual(['/v1/products/1', '/v1/products/2'])
})

test('a line break in a path cannot be passed on', async () => {
  const { body } = await gateway.send<Echo>(key, 'GET', '/v1/products/a%0d%0aX-Internal-Token:%20forged')
  expect(body.headers['x-internal-token']).not.toContain('forged')
  expect(body.url).toBe('/v1/products/a%0d%0aX-Internal-Token:%20forged')
})
