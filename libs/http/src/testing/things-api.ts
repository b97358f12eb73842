import { randomUUID } from 'node:crypto'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type ErrorCode, reasonsOf } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id, MoneyMap, Name, NonNegativeInteger } from '@backoffice/contracts/fields.ts'
import { PageQuery } from '@backoffice/contracts/pagination.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { aCaller, headersFor, testVerifier } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect } from 'vitest'
import { z } from 'zod'
import type { Caller } from '../internal-token.ts'
import { type AnyOperation, operation } from '../operation.ts'
import { created, ok, Reply } from '../reply.ts'
import { createServiceApp } from '../server.ts'

export const Thing = z.strictObject({ id: Id, name: z.string() })
export type Thing = z.output<typeof Thing>

export const ThingBody = z.strictObject({
  name: Name,
  amount: NonNegativeInteger.optional(),
  price: MoneyMap.optional(),
  labels: z.record(z.string(), z.string()).optional(),
  parts: z.array(z.strictObject({ sku: z.string() })).optional(),
})

/** POST /v1/things: writes one record to the outbox, which is what these tests see of it. */
export const createThing = operation({
  operationId: 'createThing',
  method: 'POST',
  path: '/v1/things',
  summary: 'Create a thing',
  scope: 'product::create',
  body: ThingBody,
  responses: { 201: Thing },
  openPoints: ['OP-08'],
  handle: ({ body, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const thing = { id: randomUUID(), name: body.name }
      const record = outboxRecord(TOPICS.catalogEvents, 'tag.created', thing.id, { ...thing, slug: thing.name })
      await publish(tx, [record], now)
      return created(thing)
    }),
})

export const getThing = operation({
  operationId: 'getThing',
  method: 'GET',
  path: '/v1/things/{id}',
  summary: 'Read a thing',
  scope: 'product::read',
  responses: { 200: z.strictObject({ id: Id }) },
  extension: true,
  openPoints: ['OP-02', 'OP-19'],
  handle: async ({ params }) => ok(params),
})

export const deleteThing = operation({
  operationId: 'deleteThing',
  method: 'DELETE',
  path: '/v1/things/{id}',
  summary: 'Delete a thing',
  scope: 'product::delete',
  responses: { 204: null },
  handle: async () => new Reply(204),
})

const ListQuery = z.strictObject({ ...PageQuery.shape, search: z.string().optional() })

export const listThings = operation({
  operationId: 'listThings',
  method: 'GET',
  path: '/v1/things',
  summary: 'List things',
  scope: 'product::read',
  query: ListQuery,
  responses: { 200: z.unknown() },
  handle: async ({ query }) => ok(query),
})

export const THINGS: readonly AnyOperation[] = [createThing, listThings, getThing, deleteThing]

export interface Answer<Body = unknown> {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Body
}

interface Sent {
  /** Whose token is sent; null sends none. */
  readonly caller?: Caller | null
  readonly headers?: Record<string, string>
  /** Of the body, application/json unless given; null sends none. */
  readonly contentType?: string | null
  /** Sent as JSON, or as it is when a Buffer; several Buffers are sent chunked. */
  readonly body?: unknown
}

export interface ThingsApi {
  readonly port: number
  send<Body>(method: string, path: string, sent?: Sent): Promise<Answer<Body>>
}

/** A service that really listens, with operations of the tests' own; closed when the test file is done. */
export async function thingsApi(
  db: Database,
  {
    operations = THINGS,
    logger = createLogger('test', 'silent'),
  }: { operations?: readonly AnyOperation[]; logger?: Logger } = {},
): Promise<ThingsApi> {
  const app = createServiceApp({ logger, db, operations, verifyToken: testVerifier(), checkResponses: true })
  await app.listen({ host: '127.0.0.1', port: 0 })
  whenDone(() => app.close())
  const { port } = app.server.address() as AddressInfo
  return {
    port,
    async send<Body>(
      method: string,
      path: string,
      { caller = aCaller(), headers, contentType = 'application/json', body }: Sent = {},
    ) {
      const request = httpRequest({
        port,
        method,
        path,
        agent: false,
        headers: {
          ...(caller && (await headersFor(path)(caller))),
          ...(body !== undefined && contentType !== null && { 'content-type': contentType }),
          ...headers,
        },
      })
      const answer = new Promise<IncomingMessage>((resolve, reject) => {
        request.on('response', resolve).on('error', reject)
      })
      writeBody(request, body)
      const response = await answer
      const answered = await text(response)
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: (answered === '' ? undefined : JSON.parse(answered)) as Body,
      }
    },
  }
}

function writeBody(request: ReturnType<typeof httpRequest>, body: unknown): void {
  if (Array.isArray(body) && body.every(Buffer.isBuffer)) {
    for (const chunk of body) request.write(chunk)
    return void request.end()
  }
  if (body === undefined) return void request.end()
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  // Node sends none by itself with a DELETE.
  request.setHeader('content-length', bytes.length)
  request.end(bytes)
}

/** Holds an answer to be exactly the contract's error body (spec: Errors; OP-02). */
export function expectRefusal(answer: Answer, status: number, code: string, message: string): void {
  expect(answer.body).toEqual({
    error: { code, message: expect.stringContaining(message), request_id: answer.headers['x-request-id'] },
  })
  expect(answer.status).toBe(status)
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  const reason = answer.headers['error-reason']
  expect(reasonsOf(code as ErrorCode)).toContain(reason)
  expect(answer.headers.link).toBe(`</docs/guides/errors#${reason}-${status}>; rel="help"`)
}
