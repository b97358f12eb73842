import { isDeepStrictEqual } from 'node:util'
import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect } from 'vitest'
import { importsOf, productRows } from './imports.ts'
import { aProduct } from './products.ts'
import type { TestStack } from './stack.ts'
import { newWorkspace } from './workspaces.ts'

/** A new workspace with something of every resource, at rest. Its webhooks go to `receiverUrl`. */
export async function fullWorkspace(stack: TestStack, receiverUrl: string) {
  const workspace = await newWorkspace(stack.description())
  const { api } = workspace
  const make = async <Body>(path: string, body?: unknown): Promise<Body> => {
    const answer = await api<Body>('POST', path, body)
    expect(answer.status, `POST ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
    return answer.body
  }
  const endpoint = await make<{ id: string }>('/v1/webhooks', { url: receiverUrl, enabled_events: ['tag.created'] })
  const product = await make<Product>('/v1/products', aProduct({ tags: ['New'], category: { name: 'Cups' } }))
  await make('/v1/collections', { name: 'Summer', published: true })
  await make('/v1/collections/summer/products', { products: [product.id] })
  await make('/v1/customers', { firstname: 'Ada', lastname: 'Obi', email: 'ada@example.com' })
  const items = [{ variant: product.variants[0]?.id, quantity: 1 }]
  const order = await make<{ id: string }>('/v1/orders', { currency: 'NGN', items })
  // The payment places it.
  await make(`/v1/orders/${order.id}/payments`, { amount: 450_000, currency: 'NGN', reference: 'r1' })
  await make(`/v1/orders/${order.id}/fulfillments`)
  const imports = importsOf(stack, workspace)
  const { body: uploaded } = await imports.upload('products', productRows(2))
  await imports.atRest(uploaded.id)
  await eventually('the collection shows the product as the order left it', async () => {
    const { body: shown } = await api<{ items: Product[] }>('GET', '/v1/collections/summer/products')
    return isDeepStrictEqual(shown.items[0], (await api<Product>('GET', `/v1/products/${product.id}`)).body)
  })
  await eventually('the webhook is delivered', async () => {
    const { body } = await api<{ items: { status: string }[] }>('GET', `/v1/webhooks/${endpoint.id}/deliveries`)
    return body.items[0]?.status === 'DELIVERED'
  })
  return workspace
}
