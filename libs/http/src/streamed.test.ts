import { request as httpRequest, type IncomingMessage } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { aCaller, headersOf } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { openApiDocument } from './openapi.ts'
import { operation } from './operation.ts'
import { ok, okStream, type Reply } from './reply.ts'
import { Streamed, savedAs } from './streamed.ts'
import { thingsApi } from './testing/things-api.ts'

const CSV = 'text/csv; charset=utf-8'
const lines: Record<string, unknown>[] = []
const log = (line: object) => void lines.push({ ...line })
const logger: Logger = Object.assign(createLogger('test', 'silent'), { info: log, error: log })
const { db } = await testDatabase('catalog')

let content = new PassThrough()
let reply: () => Reply = () => okStream(CSV, content, savedAs('errors.csv'))
const report = operation({
  operationId: 'report',
  method: 'GET',
  path: '/v1/report',
  summary: 'Read a report',
  scope: 'product::read',
  responses: { 200: new Streamed(CSV, 'sku\n') },
  handle: async () => reply(),
})
const { port, send } = await thingsApi(db, { operations: [report], logger })

beforeEach(() => {
  content = new PassThrough()
  reply = () => okStream(CSV, content, savedAs('errors.csv'))
  lines.length = 0
})

/** Sends a request and resolves with the head of its answer. */
async function open(method = 'GET'): Promise<IncomingMessage> {
  const request = httpRequest({ port, method, path: '/v1/report', agent: false, headers: await headersOf(aCaller()) })
  return new Promise((resolve, reject) => request.on('response', resolve).on('error', reject).end())
}

it('a stream is answered with its media type and its headers, and is kept by no cache', async () => {
  content.end('sku\na\n')
  const answer = await open()
  expect([answer.statusCode, await text(answer)]).toEqual([200, 'sku\na\n'])
  expect(answer.headers).toMatchObject({
    'content-type': CSV,
    'content-disposition': 'attachment; filename="errors.csv"',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.any(String),
  })
})

it('each chunk reaches the client at once', async () => {
  content.write('one')
  const chunks = (await open())[Symbol.asyncIterator]()
  expect(String((await chunks.next()).value)).toBe('one')
  content.write('two')
  expect(String((await chunks.next()).value)).toBe('two')
  content.end()
  expect((await chunks.next()).done).toBe(true)
})

it('HEAD has the headers and no body, and ends the stream', async () => {
  content.write('endless')
  const answer = await open('HEAD')
  expect([answer.statusCode, answer.headers['content-type'], await text(answer)]).toEqual([200, CSV, ''])
  expect(answer.headers).not.toHaveProperty('content-length')
  expect(content.destroyed).toBe(true)
})

it('a client that goes away ends the stream', async () => {
  content.write('start')
  const answer = await open()
  answer.destroy()
  await eventually('the stream is destroyed', () => content.destroyed)
  expect(await eventually('a log line', () => lines[0])).toMatchObject({ status: 499 })
})

it('a stream that fails midway gives the client a truncated answer, and the log the error', async () => {
  content.write('start')
  const answer = await open()
  const error = new Error('the disk broke')
  content.destroy(error)
  await expect(text(answer)).rejects.toThrow('aborted')
  expect(await eventually('a log line', () => lines[0])).toMatchObject({ status: 500, err: error })
  expect(lines).toHaveLength(1)
})

it.each([
  ['before it is sent', () => Readable.from([]).destroy(new ApiError('service_unavailable', 'later'))],
  [
    'before its first chunk',
    () =>
      new Readable({
        read() {
          this.destroy(new ApiError('service_unavailable', 'later'))
        },
      }),
  ],
])('a stream that fails %s is answered with the error, without the headers of the stream', async (_when, failing) => {
  reply = () => okStream(CSV, failing(), savedAs('errors.csv'))
  const { status, headers, body } = await send<{ error: unknown }>('GET', '/v1/report')
  expect([status, body.error]).toMatchObject([503, { code: 'service_unavailable', message: 'later' }])
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(headers).not.toHaveProperty('content-disposition')
})

it('is declared in the OpenAPI document with its media type', () => {
  const { paths } = openApiDocument([report]) as { paths: Record<string, unknown> }
  expect(paths['/v1/report']).toMatchObject({
    get: { responses: { 200: { content: { [CSV]: { schema: { type: 'string' } } } } } },
  })
})

it('an answer that is not the declared one fails in tests', async () => {
  const call = serviceClient(db, [
    report,
    {
      ...report,
      scope: 'product::read',
      operationId: 'thing',
      summary: 'Get a thing',
      path: '/v1/thing',
      responses: { 200: z.strictObject({}) },
    },
  ])
  content.end('a')
  expect(await call(aCaller(), 'GET', '/v1/report')).toMatchObject({ status: 200, body: 'a' })
  expect((await call(aCaller(), 'GET', '/v1/thing')).status).toBe(500)
  reply = () => ok({})
  expect(await call(aCaller(), 'GET', '/v1/thing')).toMatchObject({ status: 200, body: {} })
  expect((await call(aCaller(), 'GET', '/v1/report')).status).toBe(500)
  reply = () => okStream('text/html', Readable.from(['a']))
  expect((await call(aCaller(), 'GET', '/v1/report')).status).toBe(500)
})

it.each([
  ['errors.csv', 'errors.csv'],
  ['my "new"\r\nSet-Cookie: a.csv', 'my_new_Set-Cookie_a.csv'],
  ['Àdùké.csv', '_d_k_.csv'],
])('a file called %j is saved under a plain name', (name, saved) => {
  expect(savedAs(name)).toEqual({ 'content-disposition': `attachment; filename="${saved}"` })
})
