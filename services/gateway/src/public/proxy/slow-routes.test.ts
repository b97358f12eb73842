import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { uploadBytes } from '@backoffice/http/upload.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'
import { type Echo, echo, type TestUpstream } from '../../testing/test-upstream.ts'

const UNDER_WAY = 3
const ANSWER_MS = 1000
/** Time enough for a limit of ANSWER_MS to pass: the client's timers look once a second. */
const LONG_MS = 3_500
const PROGRESS = '/v1/imports/018f/progress'
const ERRORS = '/v1/imports/018f/errors.csv'
const SLOTS = { slots: UNDER_WAY + 1, share: 1, waiting: 0, waitMs: 1_000 }
const limits = { connectMs: 2_000, answerMs: ANSWER_MS, slots: SLOTS }
const gateway = await testGateway({ limits })
const { imports } = gateway
const { key } = await gateway.aKey()

beforeEach(() => {
  imports.answer = echo
  imports.received.length = 0
})

/** Opens a request, of which the test sends and reads as much as it likes; it is closed when the test is done. */
function open(path: string, method = 'GET', headers = {}, { url, key: withKey } = { url: gateway.url, key }) {
  const request = openRequest(`${url}${path}`, {
    method,
    agent: false,
    headers: { authorization: `Bearer ${withKey}`, ...headers },
  })
  whenDone(() => void request.destroy())
  const answer = new Promise<IncomingMessage>((resolve, reject) => request.on('response', resolve).on('error', reject))
  answer.catch(() => undefined)
  return { request, answer }
}

/** Opens a request without a body, and resolves with the head of its answer. */
async function stream(path: string, from = { url: gateway.url, key }) {
  const { request, answer } = open(path, 'GET', {}, from)
  request.end()
  const response = await answer
  // Its connection ends with the gateway or the test.
  response.on('error', () => undefined)
  return response
}

const statusOf = async (method: string, path: string, body?: unknown) =>
  (await gateway.send(key, method, path, { body })).status

/** Makes a service answer these paths with an event, and never end. Returns a function that sends another. */
function sendEvents(upstream: TestUpstream, ...paths: string[]) {
  const open = new Set<(event: string) => void>()
  upstream.answer = (request, response) => {
    if (!paths.includes(request.url ?? '')) return echo(request, response)
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    response.write('data: 0\n\n')
    const send = (event: string) => void response.write(event)
    open.add(send)
    response.once('close', () => open.delete(send))
  }
  return { open, send: (event: string) => open.forEach((each) => void each(event)) }
}

describe('an upload', () => {
  const upload = (headers = {}) => open('/v1/imports', 'POST', { 'content-type': 'text/csv', ...headers })
  const arrived = (bytes: number) => eventually('all of it has arrived', () => received === bytes)
  let received = 0
  beforeEach(() => {
    received = 0
    imports.answer = async (request, response) => {
      for await (const chunk of request) received += chunk.length
      response.writeHead(202).end('{}')
    }
  })

  test('of an import reaches imports, larger than other bodies', async () => {
    const { request, answer } = upload()
    request.end(Buffer.alloc(5 * LIMITS.bodyBytes))
    expect([(await answer).statusCode, received]).toEqual([202, 5 * LIMITS.bodyBytes])
  })

  test('of more than 1 GiB is payload_too_large by its Content-Length, and reaches no service (OP-07)', async () => {
    const { request, answer } = upload({ 'content-length': uploadBytes(1024 ** 3) + 1 })
    request.flushHeaders()
    expect((await answer).statusCode).toBe(413)
    expect(imports.received).toEqual([])
  })

  test('of 1 GiB is taken (OP-07)', async () => {
    const { request } = upload({ 'content-length': uploadBytes(1024 ** 3) })
    request.write('a')
    await arrived(1)
  })

  test('may take longer than a service may for its answer', async () => {
    const { request, answer } = upload()
    const end = Date.now() + LONG_MS
    for (let sent = 1; Date.now() < end; sent++) {
      request.write('a')
      await arrived(sent)
    }
    request.end()
    expect((await answer).statusCode).toBe(202)
  })

  test('of an import has its answer when the file is stored, which may take longer than other answers', async () => {
    imports.answer = async (request, response) => {
      for await (const chunk of request) received += chunk.length
      await pause(LONG_MS)
      response.writeHead(202).end('{}')
    }
    const { request, answer } = upload()
    request.end('a')
    expect((await answer).statusCode).toBe(202)
  })

  test('that its client leaves ends at the service too', async () => {
    const { request } = upload()
    request.write('a')
    await arrived(1)
    request.destroy()
    await eventually('the request ends', () => imports.received[0]?.destroyed)
  })
})

describe('a stream', () => {
  test.each([PROGRESS, ERRORS, '/v1/imports/018f/corrected.csv'])(
    'of %s reaches the client with the headers that it needs, and HEAD without it',
    async (path) => {
      const headers = {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'content-disposition': 'attachment; filename="a.csv"',
        'x-content-type-options': 'nosniff',
      }
      imports.answer = ({ method }, response) => void response.writeHead(200, headers).end(method)
      expect(await gateway.send(key, 'HEAD', path)).toMatchObject({ status: 200, headers, body: undefined })
      const answer = await stream(path)
      expect(answer.headers).toMatchObject(headers)
      expect(String((await answer[Symbol.asyncIterator]().next()).value)).toBe('GET')
    },
  )

  test('of events reaches the client event by event, for as long as the service sends them', async () => {
    const events = sendEvents(imports, PROGRESS)
    const chunks = (await stream(PROGRESS))[Symbol.asyncIterator]()
    expect(String((await chunks.next()).value)).toBe('data: 0\n\n')
    const end = Date.now() + LONG_MS
    for (let count = 1; Date.now() < end; count++) {
      events.send(`data: ${count}\n\n`)
      expect(String((await chunks.next()).value)).toBe(`data: ${count}\n\n`)
    }
  })

  test.each([PROGRESS, ERRORS])('of %s that its client leaves ends at the service too', async (path) => {
    const events = sendEvents(imports, path)
    const answer = await stream(path)
    expect(events.open.size).toBe(1)
    answer.destroy()
    await eventually('the answer ends', () => events.open.size === 0)
  })

  test('of events ends when the gateway closes', async () => {
    const closing = await testGateway({ limits })
    const { key } = await closing.aKey()
    sendEvents(closing.imports, PROGRESS)
    const chunks = (await stream(PROGRESS, { url: closing.url, key }))[Symbol.asyncIterator]()
    await chunks.next()
    await closing.close()
    expect((await chunks.next()).done).toBe(true)
  })
})

describe('slow requests are in the way of no others', () => {
  const fill = async (path: string) => {
    for (let count = 0; count < UNDER_WAY; count++) expect((await stream(path)).statusCode).toBe(200)
    expect(await statusOf('GET', path)).toBe(429)
  }

  test('streams of events leave lists, uploads and downloads answering', async () => {
    sendEvents(imports, PROGRESS)
    await fill(PROGRESS)
    expect(await statusOf('GET', '/v1/imports')).toBe(200)
    expect(await statusOf('POST', '/v1/imports', {})).toBe(200)
    expect(await statusOf('GET', ERRORS)).toBe(200)
    expect(await statusOf('GET', '/v1/products')).toBe(200)
  })

  test('downloads leave lists and streams of events answering, and the uploads of assets', async () => {
    sendEvents(imports, ERRORS)
    await fill(ERRORS)
    expect(await statusOf('GET', '/v1/imports')).toBe(200)
    expect(await statusOf('GET', PROGRESS)).toBe(200)
    expect(await statusOf('POST', '/v1/assets', {})).toBe(200)
  })

  test('uploads leave lists answering, and get their places back', async () => {
    const slow: ClientRequest[] = Array.from({ length: UNDER_WAY }, () => open('/v1/imports', 'POST').request)
    for (const request of slow) request.write('a')
    await eventually('all are under way', () => imports.received.length === UNDER_WAY)
    expect(await statusOf('POST', '/v1/imports', {})).toBe(429)
    expect(await statusOf('GET', '/v1/imports')).toBe(200)
    for (const request of slow) request.destroy()
    await eventually('there is a place', async () => (await statusOf('POST', '/v1/imports', {})) === 200)
  })
})

test('what is an upload by one method is an ordinary request by the others', async () => {
  const { body } = await gateway.send<Echo>(key, 'GET', '/v1/imports?page=2')
  expect([body.method, body.url]).toEqual(['GET', '/v1/imports?page=2'])
  const { request, answer } = open('/v1/imports', 'PUT', { 'content-length': LIMITS.bodyBytes + 1 })
  request.flushHeaders()
  expect((await answer).statusCode).toBe(413)
})
