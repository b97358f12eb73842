import type { ErrorBody } from '@backoffice/contracts/errors.ts'
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

const APIS = { '/v1/products': key, '/admin/v1/workspaces': ADMIN_TOKEN } as const

/** Sends a POST with these header lines; the connection closes after the answer. */
async function post(path: keyof typeof APIS, ...lines: string[]) {
  const head = [`POST ${path} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${APIS[path]}`, 'Connection: close']
  const body = '{"name":"Shop"}'
  const sent = [...head, 'Content-Type: application/json', `Content-Length: ${body.length}`, ...lines, '', body]
  const answer = await exchangeRaw(gateway.url, sent.join('\r\n'))
  const [answered = '', text = ''] = answer.replace(/^HTTP\/1.1 100 Continue\r\n\r\n/, '').split('\r\n\r\n')
  return { status: Number(answered.split(' ')[1]), head: answered.toLowerCase(), text }
}

const SAME_AGAIN = 'Authorization: the same again'

const paths = Object.keys(APIS) as (keyof typeof APIS)[]

test.each(
  paths.flatMap((path) => [
    [path, 'Expect: magic', 400, 'bad_request', 'Expect: must be 100-continue or absent'] as const,
    [path, 'Content-Encoding: gzip', 415, 'unsupported_media_type', 'Content-Encoding: must be absent'] as const,
    [path, 'content-encoding: BR', 415, 'unsupported_media_type', 'Content-Encoding: must be absent'] as const,
    [path, 'Authorization: Bearer other', 401, 'invalid_api_key', 'Send one Authorization header'] as const,
    [path, SAME_AGAIN, 401, 'invalid_api_key', 'Send one Authorization header'] as const,
  ]),
)('%s with %s is refused with the error body, and reaches no service', async (path, line, status, code, message) => {
  const answer = await post(path, line === SAME_AGAIN ? `authorization: Bearer ${APIS[path]}` : line)
  expect(answer.status).toBe(status)
  const { error }: ErrorBody = JSON.parse(answer.text)
  expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
  expect(answer.head).toContain(`x-request-id: ${error.request_id}`)
  expect(catalog.received).toEqual([])
})

test.each(
  paths.flatMap((path) => ['Expect: 100-continue', 'Content-Encoding: identity'].map((line) => [path, line] as const)),
)('%s takes %s', async (path, line) => {
  expect((await post(path, line)).status).toBeLessThan(300)
})
