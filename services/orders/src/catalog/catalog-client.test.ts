import { randomUUID } from 'node:crypto'
import { conflict, errorAnswer, errorBody } from '@backoffice/contracts/errors.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { aCaller, testSigner, testVerifier } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it, vi } from 'vitest'
import { type AnswerRequest, answeringServer, hangUp, json } from '../testing/answering-server.ts'
import { CALL_LIMITS, CatalogClient } from './catalog-client.ts'

const SLOTS = { slots: 4, share: 2, most: 2, waiting: 2, waitMs: 200 }
const LIMITS = { deadlineMs: 30_000, failures: 4, halfOpenAfterMs: 1000, slots: SLOTS }

const aContext = (): RequestContext => ({
  ...aCaller(),
  requestId: randomUUID(),
  traceparent: traceparentFrom(undefined),
})

/** A client and the server that it calls. */
async function clientOf(limits: Partial<typeof LIMITS> = {}) {
  const server = await answeringServer()
  const client = new CatalogClient(server.url, testSigner(), { ...LIMITS, ...limits })
  whenDone(() => client.stop?.())
  server.answer = json(200, { order: 'a', variants: [] })
  const context = aContext()
  return {
    server,
    context,
    take: (of = context) => client.takeStock(of, 'a', [{ variant: 'b', quantity: 1 }]),
    read: (of = context) => client.readVariants(of, { ids: [], skus: [] }),
  }
}

/** The clock stands still for the test, but for what is added to it. */
function stopClock() {
  vi.useFakeTimers({ toFake: ['Date'] })
  whenDone(() => vi.useRealTimers())
}
const passTime = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds)

const never: AnswerRequest = () => undefined
const refusal = conflict(['lines', 0, 'quantity'], 'only 0 of "MUG" left')
const tooShort = json(409, JSON.parse(errorAnswer(refusal, 'request', { isInternal: true }).body))
const unavailable = { code: 'service_unavailable', headers: { 'retry-after': '1' } }

it('a call has three seconds, ten failures keep a workspace from catalog for one, and it has 16 slots (OP-137)', () => {
  const slots = expect.objectContaining({ most: 16, waitMs: 1000 })
  expect(CALL_LIMITS).toEqual({ deadlineMs: 3000, failures: 10, halfOpenAfterMs: 1000, slots })
})

it('connections are kept alive, and each call has a token of orders’ own and the caller’s ids', async () => {
  const { server, take, read, context } = await clientOf()
  const headers: { token: string; requestId: unknown; traceparent: unknown }[] = []
  server.next.push((request, ...rest) => {
    const { 'x-internal-token': token, 'x-request-id': requestId, traceparent } = request.headers
    headers.push({ token: String(token), requestId, traceparent })
    json(200, { order: 'a' })(request, ...rest)
  })
  await take()
  for (let call = 0; call < 50; call++) expect(await read()).toEqual([])
  expect(server.requests).toBe(51)
  expect(server.connections).toBeLessThanOrEqual(LIMITS.slots.slots)
  const { requestId, traceparent } = context
  expect(headers).toEqual([{ token: expect.any(String), requestId, traceparent }])
  const [{ token } = { token: '' }] = headers
  const { workspaceId, livemode, keyId, productStatuses } = context
  expect(await testVerifier('catalog')(token, new Date())).toMatchObject({
    isService: true,
    caller: { workspaceId, livemode, keyId, productStatuses, scopes: [] },
  })
})

it.each([
  ['a lost connection', hangUp],
  ['an answer 503', json(503, errorBody('service_unavailable', 'stopping', ''))],
])('a call is repeated once after %s', async (_, failure) => {
  const { server, take } = await clientOf()
  server.next.push(failure)
  await take()
  expect(server.requests).toBe(2)
  server.next.push(failure, failure)
  await expect(take()).rejects.toMatchObject(unavailable)
  expect(server.requests).toBe(4)
})

it('a refusal is definite, but not after a first attempt that may still take effect', async () => {
  const { server, take } = await clientOf()
  server.next.push(tooShort)
  await expect(take()).rejects.toMatchObject({ code: 'conflict', isDefinite: true })
  server.next.push(hangUp, tooShort)
  await expect(take()).rejects.toMatchObject({ code: 'conflict', isDefinite: false })
})

it('a call without an answer by its deadline is service_unavailable, not repeated, and a failure of catalog', async () => {
  stopClock()
  const { server, take } = await clientOf({ deadlineMs: 3000, failures: 2 })
  server.next.push(never, (_request, response) => void response.writeHead(200).write('{'))
  const late = { ...unavailable, isDefinite: false }
  await Promise.all([take(), take()].map((call) => expect(call).rejects.toMatchObject(late)))
  await expect(take()).rejects.toMatchObject({ ...unavailable, isDefinite: true })
  expect(server.requests).toBe(2)
})

it.each([
  ['text', (response: { end(text: string): unknown }) => response.end('maybe')],
  ['another shape', (response: { end(text: string): unknown }) => response.end('{"variants":[{"id":7}]}')],
])('an answer of %s is service_unavailable, with the cause for the log', async (_, answer) => {
  const { server, read } = await clientOf()
  server.answer = (_request, response) => void answer(response)
  await expect(read()).rejects.toMatchObject({ ...unavailable, cause: expect.anything() })
})

it('catalog is not called while it keeps failing; one call tries it again, and its success lets all calls through', async () => {
  stopClock()
  const { server, take } = await clientOf()
  server.answer = hangUp
  for (let call = 0; call < 2; call++) await expect(take()).rejects.toMatchObject({ ...unavailable, isDefinite: false })
  expect(server.requests).toBe(4)
  await expect(take()).rejects.toMatchObject({ ...unavailable, isDefinite: true })
  expect(server.requests).toBe(4)
  server.answer = json(200, { order: 'a' })
  passTime(LIMITS.halfOpenAfterMs)
  await take()
  await take()
  expect(server.requests).toBe(6)
})

it('failures of one workspace keep no other from catalog, also while its next call tries it again (OP-137)', async () => {
  stopClock()
  const { server, take, read } = await clientOf()
  server.answer = hangUp
  for (let call = 0; call < 2; call++) await expect(take()).rejects.toMatchObject(unavailable)
  await expect(take()).rejects.toMatchObject({ isDefinite: true })
  server.answer = json(200, { variants: [] })
  expect(await read(aContext())).toEqual([])
  passTime(LIMITS.halfOpenAfterMs)
  const held = Promise.withResolvers<void>()
  server.next.push(async (...request) => {
    await held.promise
    json(200, { order: 'a' })(...request)
  })
  const { requests } = server
  const trying = take()
  await eventually('the call is under way', () => server.requests > requests)
  expect(await read(aContext())).toEqual([])
  held.resolve()
  await trying
})

it('refusals never keep catalog from being called, and neither do errors of catalog about one request', async () => {
  const { server, take, read } = await clientOf()
  server.answer = tooShort
  for (let call = 0; call < 10; call++) await expect(take()).rejects.toMatchObject({ code: 'conflict' })
  server.answer = json(500, errorBody('internal_error', 'no', ''))
  for (let call = 0; call < 10; call++) await expect(take()).rejects.toMatchObject(unavailable)
  server.answer = json(200, { variants: [] })
  expect(await read()).toEqual([])
  expect(server.requests).toBe(21)
})

it('the slow calls of one workspace leave slots to others, and too many of them are service_unavailable (OP-137)', async () => {
  const { server, take, read } = await clientOf()
  const held: (() => unknown)[] = []
  server.answer = (...request) => held.push(() => json(200, { order: 'a' })(...request))
  const slow = [take(), take()]
  await eventually('two calls are under way', () => held.length === 2)
  const waiting = [take(), take()].map((call) => call.catch((error: unknown) => error))
  await expect(take()).rejects.toMatchObject(unavailable)
  server.answer = json(200, { variants: [] })
  expect(await read(aContext())).toEqual([])
  // They have waited too long for a slot.
  expect(await Promise.all(waiting)).toMatchObject([unavailable, unavailable])
  for (const answer of held) answer()
  await Promise.all(slow)
  expect(server.requests).toBe(3)
})

it('a call that finds no slot is told whose calls are too many', async () => {
  const { server, take } = await clientOf()
  const held: (() => unknown)[] = []
  server.answer = (...request) => held.push(() => json(200, { order: 'a' })(...request))
  const [one, other] = [aContext(), aContext()]
  const slow = [one, one, other, other].map((context) => take(context))
  await eventually('all slots are taken', () => held.length === 4)
  const message = (whose: string) => `${whose} too many orders under way; try again`
  await expect(take(one)).rejects.toMatchObject({ ...unavailable, message: message('This workspace has') })
  await expect(take()).rejects.toMatchObject({ ...unavailable, message: message('All workspaces together have') })
  for (const answer of held) answer()
  await Promise.all(slow)
})
