import { randomUUID } from 'node:crypto'
import { ERROR_REASONS } from '@backoffice/contracts/error-reasons.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { expect, it } from 'vitest'
import { type Answer, apiWith, type Refusal } from './testing/api.ts'
import { aProduct } from './testing/products.ts'
import { sharedStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

const stack = await sharedStack()
const { gateway } = stack.description()
const { api } = await newWorkspace(stack.description())
const { api: reader } = await newWorkspace(stack.description(), ['product::read'])
const page = await (await fetch(`${gateway}/docs/guides/errors`)).text()

const aMug = async () => (await api<Product>('POST', '/v1/products', aProduct())).body.variants[0]?.sku ?? ''
const order = (sku: string, more = {}) =>
  api<Refusal & { id: string }>('POST', '/v1/orders', { currency: 'NGN', items: [{ sku, quantity: 1 }], ...more })
const twice = async (path: string, body: unknown, other = body, headers = {}) => {
  const first = await api('POST', path, body, headers)
  expect([first.status, first.headers.get('error-reason')]).toEqual([201, null])
  return api('POST', path, other, headers)
}

it('an answer that is given again says so (OP-08)', async () => {
  const send = () => api('POST', '/v1/products', { ...aProduct(), sku: 'AGAIN' }, { 'idempotency-key': 'again' })
  const [first, again] = [await send(), await send()]
  expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
  expect(again.body).toEqual(first.body)
})

it.each<[string, () => Promise<Answer<Refusal>>]>([
  ['key_missing', () => apiWith(gateway, undefined)('GET', '/v1/products')],
  ['key_unknown', () => apiWith(gateway, 'sk_live_wrong')('GET', '/v1/products')],
  ['scope_missing', () => reader('POST', '/v1/products', aProduct())],
  ['no_such_operation', () => api('GET', '/v1/nothing')],
  ['no_such_operation', () => api('GET', '/nothing')],
  ['no_such_resource', () => api('GET', `/v1/products/${randomUUID()}`)],
  ['method_not_allowed', () => api('PATCH', '/v1/products')],
  ['malformed_request', () => api('POST', '/v1/products', '{"name":')],
  ['unknown_parameter', () => api('GET', '/v1/products?colour=red')],
  ['invalid_request', () => api('POST', '/v1/products', {})],
  ['wrong_encoding', () => api('POST', '/v1/products', '{}', { 'content-encoding': 'gzip' })],
  ['too_large', () => api('POST', '/v1/products', aProduct({ description: 'x'.repeat(1_100_000) }))],
  ['sku_taken', () => twice('/v1/products', aProduct({ sku: 'MUG' }))],
  ['slug_taken', () => twice('/v1/products', aProduct({ slug: 'a-mug' }), aProduct({ slug: 'a-mug' }))],
  ['handle_taken', () => twice('/v1/collections', { name: 'A', membership_type: 'MANUAL', handle: 'a' })],
  ['email_taken', () => twice('/v1/customers', { firstname: 'Ada', email: 'ada@example.com' })],
  ['key_reused', () => twice('/v1/products', aProduct(), aProduct(), { 'idempotency-key': randomUUID() })],
  [
    'answer_not_kept',
    () =>
      twice('/v1/webhooks', { url: 'https://example.com/', enabled_events: ['*'] }, undefined, {
        'idempotency-key': randomUUID(),
      }),
  ],
  ['unknown_reference', () => api('POST', '/v1/products', aProduct({ categories: [randomUUID()] }))],
  ['short_stock', () => aMug().then((sku) => order(sku, { status: 'PLACED', items: [{ sku, quantity: 5 }] }))],
  [
    'state_forbids',
    async () => {
      const { body } = await order(await aMug())
      await api('POST', `/v1/orders/${body.id}/cancellations`, {})
      return api('POST', `/v1/orders/${body.id}/cancellations`, {})
    },
  ],
])(
  '%s is the reason that a refusal names through the gateway, with a link to what to do (OP-265)',
  async (reason, ask) => {
    const { status, headers, body } = await ask()
    expect([headers.get('error-reason'), Object.keys(body.error)]).toEqual([reason, ['code', 'message', 'request_id']])
    expect(Object.keys(ERROR_REASONS[body.error.code as keyof typeof ERROR_REASONS])).toContain(reason)
    expect(headers.get('link')).toBe(`</docs/guides/errors#${reason}-${status}>; rel="help"`)
    expect(page).toContain(` id="${reason}-${status}"`)
  },
)
