import { randomUUID } from 'node:crypto'
import type { Product } from '@backoffice/contracts/product.ts'
import { expect, it } from 'vitest'
import { aProduct } from './testing/products.ts'
import { sharedStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

const stack = await sharedStack()
const { api } = await newWorkspace(stack.description())

async function anOrder() {
  const { body } = await api<Product>('POST', '/v1/products', aProduct())
  return { currency: 'NGN', items: [{ sku: body.variants[0]?.sku, quantity: 1 }] }
}

const resources: readonly [string, () => unknown, (n: number) => Record<string, unknown>][] = [
  ['/v1/products', aProduct, (n) => ({ name: `Mug ${n}` })],
  ['/v1/customers', () => ({ firstname: 'Ada' }), (n) => ({ note: `Note ${n}` })],
  ['/v1/orders', anOrder, (n) => ({ note: `Note ${n}` })],
  [
    '/v1/collections',
    () => ({ name: 'Sale', handle: `sale-${randomUUID()}`, membership_type: 'MANUAL', published: true }),
    (n) => ({ name: `Sale ${n}` }),
  ],
  ['/v1/webhooks', () => ({ url: 'https://example.com/', enabled_events: ['*'] }), (n) => ({ description: `No ${n}` })],
]

it.each(resources)(
  'a change of %s with If-Match is made only to what the client has read (OP-266)',
  async (list, make, change) => {
    const { body } = await api<{ id: string }>('POST', list, await make())
    const path = `${list}/${body.id}`
    const tagOf = async () => (await api('GET', path)).headers.get('etag') ?? ''
    const put = (n: number, tag: string) => api('PUT', path, change(n), { 'if-match': tag })
    const tag = await tagOf()
    expect(tag).toMatch(/^"[\w-]{22}"$/)

    const changed = await put(1, `"another", ${tag}`)
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, await tagOf()])
    const refused = await put(2, tag)
    expect([refused.status, refused.body.error.code, refused.headers.get('error-reason')]).toEqual([
      412,
      'precondition_failed',
      'version_changed',
    ])
    expect(await tagOf()).toBe(changed.headers.get('etag'))
    expect((await put(3, '*')).status).toBe(200)
    expect((await put(4, `W/${await tagOf()}`)).status).toBe(200)

    const same = await tagOf()
    const rivals = await Promise.all([5, 6, 7, 8, 9].map((n) => put(n, same)))
    expect(rivals.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412, 412])
  },
)

it.each(resources)('GET %s answers 304 to a client that has what it would answer', async (list, make, change) => {
  const { body } = await api<{ id: string }>('POST', list, await make())
  const path = `${list}/${body.id}`
  const { headers } = await api('GET', path)
  const tag = headers.get('etag') ?? ''
  const ask = async (method: string, condition: string) => {
    const answer = await api(method, path, undefined, { 'if-none-match': condition })
    return [answer.status, answer.headers.get('etag'), answer.body !== undefined]
  }
  expect(await ask('GET', tag)).toEqual([304, tag, false])
  expect(await ask('HEAD', `W/${tag}`)).toEqual([304, tag, false])
  expect(await ask('GET', '"another"')).toEqual([200, tag, true])
  await api('PUT', path, change(1))
  expect((await ask('GET', tag))[0]).toBe(200)
})

it('an order is placed only as the client has read it, and takes no stock otherwise', async () => {
  const { body: order } = await api<{ id: string; items: { sku: string }[] }>('POST', '/v1/orders', await anOrder())
  const path = `/v1/orders/${order.id}`
  const tag = (await api('GET', path)).headers.get('etag') ?? ''
  await api('PUT', path, { note: 'Changed meanwhile' })
  expect((await api('PUT', path, { status: 'PLACED' }, { 'if-match': tag })).status).toBe(412)
  const { headers, body } = await api<{ status: string }>('GET', path)
  expect(body.status).toBe('CART')
  expect((await api('PUT', path, { status: 'PLACED' }, { 'if-match': headers.get('etag') ?? '' })).status).toBe(200)
})

it('refuses If-Match where it would be ignored', async () => {
  const { body } = await api<Product>('POST', '/v1/products', aProduct())
  for (const [method, path, sent] of [
    ['POST', '/v1/products', aProduct()],
    ['DELETE', `/v1/products/${body.id}`, undefined],
    ['GET', '/v1/products', undefined],
  ] as const) {
    const answer = await api(method, path, sent, { 'if-match': '*' })
    expect([answer.status, answer.headers.get('error-reason')]).toEqual([400, 'condition_not_taken'])
  }
  expect((await api('GET', `/v1/products/${body.id}`)).status).toBe(200)
})
