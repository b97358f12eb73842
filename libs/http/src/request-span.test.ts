import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { startSpan } from '@backoffice/runtime/spans.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { type ReceivedSpan, recordSpans } from '@backoffice/testing/trace-receiver.ts'
import type { FastifyRequest } from 'fastify'
import { expect, it } from 'vitest'
import { operation } from './operation.ts'
import { endRequestSpan } from './request-span.ts'
import { createThing, getThing, thingsApi } from './testing/things-api.ts'

const { db } = await testDatabase('catalog')
const lines: Record<string, unknown>[] = []
const write = (line: Record<string, unknown>) => void lines.push(line)
const logger: Logger = Object.assign(createLogger('test', 'silent'), { info: write, error: write })
const failing = operation({
  operationId: 'failing',
  method: 'GET',
  path: '/v1/bug',
  summary: 'Fail',
  scope: 'product::read',
  responses: {},
  handle: () => Promise.reject(new Error('secret of a row')),
})
const api = await thingsApi(db, { operations: [createThing, getThing, failing], logger })

/** Sends a request and waits until it is logged: then its span has ended. */
const send: typeof api.send = async (...sent) => {
  const before = lines.length
  const answer = await api.send(...sent)
  await eventually('the line', () => lines.length > before)
  return answer as never
}

const TRACE = 'a0892f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${TRACE}-f03067aa0ba902b7-01`
const ofServer = (spans: ReceivedSpan[]) => spans.find(({ kind }) => kind === 2)

it('a request has a server span in the trace of its caller, and its transaction a span below it', async () => {
  const caller = aCaller()
  const spans = await recordSpans(() =>
    send('POST', '/v1/things', { caller, body: { name: 'Ada' }, headers: { traceparent, 'x-request-id': 'req-7' } }),
  )
  const server = ofServer(spans)
  expect(server).toMatchObject({
    name: 'POST /v1/things',
    traceId: TRACE,
    parentSpanId: 'f03067aa0ba902b7',
    status: { code: 0 },
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/things',
      'http.response.status_code': 201,
      'backoffice.request_id': 'req-7',
      'backoffice.workspace_id': caller.workspaceId,
    },
  })
  const transaction = spans.find(({ name }) => name === 'test transaction')
  expect(transaction).toMatchObject({
    traceId: TRACE,
    parentSpanId: server?.spanId,
    kind: 3,
    attributes: { 'db.system.name': 'postgresql' },
    events: [{ name: 'begun' }],
  })
})

it('the log line of a request leads to its span', async () => {
  const [span] = await recordSpans(() =>
    send('GET', '/v1/nothing', { caller: null, headers: { 'x-request-id': 'line' } }),
  )
  const line = lines.find(({ request_id }) => request_id === 'line')
  expect(line).toMatchObject({ trace_id: span?.traceId, span_id: span?.spanId, status: 404 })
})

it('the route that a service tells the gateway names the span', async () => {
  const spans = await recordSpans(async () => {
    const request = { span: startSpan('GET /v1/*'), method: 'GET', logged: { route: '/v1/products/:id' } }
    endRequestSpan(request as unknown as FastifyRequest, 200)
  })
  expect(spans).toMatchObject([{ name: 'GET /v1/products/:id', attributes: { 'http.route': '/v1/products/:id' } }])
})

it.each([
  ['GET', '/v1/bug', { status: { code: 2 }, attributes: { 'error.type': 'internal_error' } }],
  ['GET', '/v1/things/1', { name: 'GET /v1/things/:id', status: { code: 0 } }],
  ['GET', '/v1/nothing', { name: 'GET', attributes: { 'backoffice.error_code': 'not_found' } }],
])('a span says how the request ended, and is failed by our errors only: %s %s', async (method, path, expected) => {
  expect(ofServer(await recordSpans(() => send(method, path)))).toMatchObject(expected)
})

it('no span holds what a client sends or a row has', async () => {
  const spans = await recordSpans(async () => {
    const secret = { authorization: 'Bearer sk_live_secret', cookie: 'secret', 'idempotency-key': 'secret' }
    await send('GET', '/v1/things/secret?secret=1')
    await send('POST', '/v1/things', { body: { name: 'secret' }, headers: secret })
    await send('POST', '/v1/things', { body: { secret: 'secret' } })
    await send('GET', '/v1/bug')
  })
  expect(spans.length).toBeGreaterThan(4) // one of them a transaction's
  expect(JSON.stringify(spans)).not.toContain('secret')
})
