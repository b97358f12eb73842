import type { CheckoutSession } from '@backoffice/contracts/app.ts'
import { INTERNAL_TOKEN_HEADER } from '@backoffice/http/internal-token.ts'
import { aCaller, type Caller, testSigner } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { type AnswerRequest, answeringServer, hangUp, json } from '../testing/answering-server.ts'
import { ordersService } from '../testing/orders-api.ts'
import { checkoutApps } from './checkout-apps.ts'

const server = await answeringServer()
const apps = checkoutApps(server.url, testSigner())
whenDone(() => apps.stop?.())
const { send, createOrder, catalog, recordsOf } = await ordersService({ apps })

/** What apps was asked, in order. */
const asked: { path: string | undefined; key: unknown; caller: unknown; body: unknown }[] = []
const SESSION = { sessionId: 's1', redirectUrl: 'https://pay.example/s1', amountMinor: 2100 }
const callerIn = (token: unknown) =>
  JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString()).caller
const answering =
  (answer: AnswerRequest): AnswerRequest =>
  (request, response, body) => {
    const key = request.headers['idempotency-key']
    asked.push({
      path: request.url,
      key,
      caller: callerIn(request.headers[INTERNAL_TOKEN_HEADER]),
      body: JSON.parse(body),
    })
    return answer(request, response, body)
  }
server.answer = answering(json(201, SESSION))

const checkOut = <Body = { error: { code: string; message: string } }>(
  caller: Caller,
  id: string,
  body: unknown = { provider: 'pay' },
  headers?: Record<string, string>,
) => send<Body>(caller, 'POST', `/v1/orders/${id}/checkout`, body, headers)
const askedOf = (id: string) =>
  asked.map(({ body }) => body).filter((body) => (body as { orderId: string }).orderId === id)
const statusOf = async (caller: Caller, id: string) =>
  (await send<{ status: string }>(caller, 'GET', `/v1/orders/${id}`)).body.status
const pay = (caller: Caller, id: string, amount: number) =>
  send(caller, 'POST', `/v1/orders/${id}/payments`, { amount, currency: 'EUR', reference: `p${amount}` })

it('a checkout places an order at CART and answers the session of the app (OP-44, OP-85)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const { status, body } = await checkOut<CheckoutSession>(caller, id)
  expect([status, body]).toEqual([201, SESSION])
  expect(await statusOf(caller, id)).toBe('PLACED')
  expect((await recordsOf(id)).map(({ type }) => type)).toEqual(['order.created', 'order.updated'])
  // Only the gateway's tokens say whether a key is an app's.
  const { appKeyId: _, ...callerOfService } = caller
  expect(asked.at(-1)).toEqual({
    path: '/internal/checkout',
    key: undefined,
    caller: { ...callerOfService, who: 'merchant', scopes: [] },
    body: { provider: 'pay', orderId: id, amountMinor: 2000, currency: 'EUR' },
  })
})

it('the amount is what is left to pay', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller, { status: 'PLACED' })
  await pay(caller, id, 500)
  expect((await checkOut(caller, id)).status).toBe(201)
  expect(askedOf(id)).toEqual([{ provider: 'pay', orderId: id, amountMinor: 1500, currency: 'EUR' }])
})

it('a deposit that was given back is to be paid again (OP-206)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  for (const amount of [1500, 1501]) {
    await pay(caller, id, amount)
    const refund = { amount, currency: 'EUR', reference: `r${amount}` }
    expect((await send(caller, 'POST', `/v1/orders/${id}/refunds`, refund)).status).toBe(201)
  }
  expect((await checkOut(caller, id)).status).toBe(201)
  expect(askedOf(id)).toEqual([{ provider: 'pay', orderId: id, amountMinor: 2000, currency: 'EUR' }])
})

it.each<[string, (caller: Caller, id: string) => Promise<unknown>, string]>([
  ['CANCELLED', (caller, id) => send(caller, 'PUT', `/v1/orders/${id}`, { status: 'CANCELLED' }), 'status: '],
  ['COMPLETED', (caller, id) => send(caller, 'PUT', `/v1/orders/${id}`, { status: 'COMPLETED' }), 'status: '],
  ['PAID', (caller, id) => pay(caller, id, 2000), 'payment_status: '],
])('an order that is %s is a conflict, and no app is asked', async (_, change, path) => {
  const caller = aCaller()
  const { id } = await createOrder(caller, { status: 'PLACED' })
  await change(caller, id)
  const { status, body } = await checkOut(caller, id)
  expect([status, body.error.code]).toEqual([409, 'conflict'])
  expect(body.error.message).toContain(path)
  expect(askedOf(id)).toEqual([])
})

it('an order with nothing to pay is a conflict and stays at CART', async () => {
  const caller = aCaller()
  const { id: variant } = await catalog.addVariant(caller, { price: { EUR: 0 } })
  const { id } = await createOrder(caller, { items: [{ variant, quantity: 1 }] })
  expect((await checkOut(caller, id)).status).toBe(409)
  expect(await statusOf(caller, id)).toBe('CART')
})

it('short stock is a conflict: the order stays at CART, and no app is asked', async () => {
  const caller = aCaller()
  const { id: variant } = await catalog.addVariant(caller, { stock: 1 })
  const { id } = await createOrder(caller, { items: [{ variant, quantity: 2 }] })
  expect((await checkOut(caller, id)).body.error.code).toBe('conflict')
  expect(await statusOf(caller, id)).toBe('CART')
  expect(askedOf(id)).toEqual([])
})

it('a refusal of the app is unprocessable with its message; the order stays PLACED for another try', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const message = 'provider: pay refuses the checkout: the account is closed'
  const refusal = { error: { code: 'unprocessable', message, request_id: 'r' } }
  server.next.push(answering(json(422, refusal)))
  const refused = await checkOut(caller, id)
  expect([refused.status, refused.body.error.message]).toEqual([422, message])
  expect(await statusOf(caller, id)).toBe('PLACED')
  expect((await checkOut(caller, id)).status).toBe(201)
})

it('an order that is cancelled while the app answers is a conflict: nobody is sent to pay it', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const cancel = () => send(caller, 'PUT', `/v1/orders/${id}`, { status: 'CANCELLED' })
  server.next.push((...request) => void cancel().then(() => server.answer(...request)))
  const { status, body } = await checkOut(caller, id, undefined, { 'idempotency-key': crypto.randomUUID() })
  expect([status, body.error.code]).toEqual([409, 'conflict'])
  expect(body.error.message).toBe(
    'status: an order that is CANCELLED has no checkout; record what is paid with POST /v1/orders/{id}/payments',
  )
})

it('an app may take the money and record it before it answers', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  server.next.push((...request) => void pay(caller, id, 2000).then(() => server.answer(...request)))
  expect((await checkOut(caller, id)).status).toBe(201)
})

it('what an app does instead of creating a checkout is in the answer, and the order stays PLACED', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const message = 'pay does not create a checkout now: answered 500'
  server.next.push(answering(json(503, { error: { code: 'service_unavailable', message, request_id: 'r' } })))
  const { status, body } = await checkOut(caller, id)
  expect([status, body.error.code, body.error.message]).toEqual([503, 'service_unavailable', message])
  expect(await statusOf(caller, id)).toBe('PLACED')
})

it.each<[string, AnswerRequest]>([
  ['fails', json(500, { error: { code: 'internal_error', message: 'inside', request_id: 'r' } })],
  ['hangs up', hangUp],
  ['answers something else', json(201, { sessionId: 1 })],
  ['is away', json(503, {})],
])('a service apps that %s is service_unavailable, and no more is said', async (_, answer) => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  server.next.push(answering(answer))
  const { status, body, headers } = await checkOut(caller, id)
  expect([status, body.error.message]).toEqual([503, 'apps does not answer now; try again'])
  expect(headers['retry-after']).toBe('1')
})

it('a request that is repeated until the app answers has one key for the app, which no other request has', async () => {
  const caller = aCaller()
  const [{ id }, other] = [await createOrder(caller), await createOrder(caller)]
  const keysOf = (order: string) =>
    asked.flatMap(({ body, key }) => ((body as { orderId: string }).orderId === order ? [key] : []))
  const header = { 'idempotency-key': 'checkout-1' }
  server.next.push(answering(hangUp))
  expect((await checkOut(caller, id, undefined, header)).status).toBe(503)
  expect((await checkOut(caller, id, undefined, header)).status).toBe(201)
  const [first, second] = keysOf(id)
  expect([first, second]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), first])
  await checkOut(caller, other.id, undefined, { 'idempotency-key': 'checkout-2' })
  expect(keysOf(other.id)).not.toContain(first)
})

it('the same Idempotency-Key gets the first answer again, and the app is asked once (OP-08)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const key = { 'idempotency-key': crypto.randomUUID() }
  const first = await checkOut(caller, id, undefined, key)
  await pay(caller, id, 2000)
  server.next.push(answering(json(201, { ...SESSION, sessionId: 's2' })))
  const second = await checkOut(caller, id, undefined, key)
  server.next.length = 0
  expect([second.status, second.body]).toEqual([first.status, first.body])
  expect(askedOf(id)).toHaveLength(1)
  const other = await checkOut(caller, id, { provider: 'cards' }, key)
  expect(other.status).toBeGreaterThanOrEqual(400)
})

it('another order, another workspace, a wrong provider and a key without the scope are refused', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  expect((await checkOut(caller, crypto.randomUUID())).status).toBe(404)
  expect((await checkOut(aCaller(), id)).status).toBe(404)
  for (const body of [{}, { provider: 'Not a provider' }, { provider: 'pay', amountMinor: 1 }]) {
    expect((await checkOut(caller, id, body)).status).toBe(400)
  }
  expect((await checkOut({ ...caller, scopes: ['sale::read'] }, id)).status).toBe(403)
  expect(await statusOf(caller, id)).toBe('CART')
})
