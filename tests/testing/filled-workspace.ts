import { randomUUID } from 'node:crypto'
import type { Order } from '@backoffice/contracts/order.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect } from 'vitest'
import { apiWith } from './api.ts'
import { PIXEL, upload } from './files.ts'
import { importsOf, productRows } from './imports.ts'
import { aProduct } from './products.ts'
import type { TestStack } from './stack.ts'

/** The number of events in a filled workspace, besides one for each created product. */
const OTHER_EVENTS = 14

interface Pair {
  readonly id: string
  readonly sandbox: { readonly id: string }
}

/** Calls the admin API of a stack. */
export const adminOf = (stack: TestStack) => {
  const { gateway, admin_token } = stack.description()
  return apiWith(gateway, admin_token)
}

/** Creates a live workspace with a sandbox; both get something of every service through the API. */
export async function filledPair(stack: TestStack, receiverUrl: string, products = 3) {
  const admin = adminOf(stack)
  const { body: pair } = await admin<Pair>('POST', '/admin/v1/workspaces', { name: 'Filled', sandbox: true })
  const [live, sandbox] = await Promise.all(
    [pair.id, pair.sandbox.id].map((id) => filledWorkspace(stack, id, receiverUrl, products)),
  )
  if (live === undefined || sandbox === undefined) throw new Error('there are two')
  return { live, sandbox }
}

/** Installs an app of its own in a workspace. */
async function installApp(stack: TestStack, workspace: string) {
  const admin = adminOf(stack)
  const [app, provider] = [await startReceiver(), `app-${randomUUID()}`]
  const manifest = { provider, scopes: ['product::read'], embed: '/embed' }
  expect((await admin('POST', '/admin/v1/apps', { origin: app.url, manifest })).status).toBe(201)
  const path = `/admin/v1/workspaces/${workspace}/installations`
  const { status, body } = await admin<{ id: string }>('POST', path, { provider })
  expect(status, JSON.stringify(body)).toBe(201)
  await admin('POST', `/admin/v1/installations/${body.id}/consent`, {})
  await eventually('the app is installed', async () => {
    const installation = await admin<{ state: string }>('GET', `/admin/v1/installations/${body.id}`)
    return installation.body.state === 'ACTIVE'
  })
}

/** Fills a workspace with something of every service. */
async function filledWorkspace(stack: TestStack, id: string, receiverUrl: string, products: number) {
  const admin = adminOf(stack)
  const { gateway } = stack.description()
  const path = `/admin/v1/workspaces/${id}`
  await admin('PUT', `${path}/settings`, { rate_limit: { per_second: 100_000, burst: 100_000 } })
  const { body } = await admin<{ key: string }>('POST', `${path}/keys`, { name: 'test', scopes: ['*'] })
  const api = apiWith(gateway, body.key)
  const workspace = { id, key: body.key, api }
  const change = async <Body>(method: string, changed: string, sent?: unknown, headers = {}): Promise<Body> => {
    const answer = await api<Body>(method, changed, sent, headers)
    expect(answer.status, `${method} ${changed}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
    return answer.body
  }
  await installApp(stack, id)
  const endpoint = await change<{ id: string }>('POST', '/v1/webhooks', { url: receiverUrl, enabled_events: ['*'] })
  const { body: asset } = await upload(gateway, { authorization: `Bearer ${body.key}` }, PIXEL)
  await change('POST', '/v1/collections', {
    name: 'All',
    published: true,
    membership_type: 'SMART',
    rules: { match: 'all', conditions: [{ field: 'name', operator: 'is_set' }] },
  })
  const parent = await change<{ id: string }>('POST', '/v1/categories', { name: 'Tableware' })
  await change('POST', '/v1/categories', { name: 'Cups', parent: parent.id })
  const created: Product[] = []
  for (let n = 0; n < products; n++) {
    const members = { price: { EUR: 1500 }, tags: ['Gift'], category: { name: 'Cups' }, medias: [{ asset: asset.id }] }
    created.push(
      await change<Product>('POST', '/v1/products', aProduct(members), { 'idempotency-key': `product-${n}` }),
    )
  }
  const order = await change<Order>('POST', '/v1/orders', {
    currency: 'EUR',
    status: 'PLACED',
    items: [{ sku: created[0]?.variants[0]?.sku, quantity: 1 }],
    customer: { firstname: 'Ada', email: 'ada@example.com' },
  })
  await change('POST', `/v1/orders/${order.id}/payments`, { amount: 1500, currency: 'EUR', reference: 'till' })
  await change('POST', `/v1/orders/${order.id}/refunds`, { amount: 500, currency: 'EUR', reference: 'torn' })
  await change('POST', `/v1/orders/${order.id}/fulfillments`)
  const imports = importsOf(stack, workspace)
  const uploaded = await imports.upload('products', productRows(30))
  await imports.atRest(uploaded.body.id)
  await imports.start(uploaded.body.id)
  expect(await imports.atRest(uploaded.body.id)).toMatchObject({ status: 'COMPLETED' })
  await eventually('all events are delivered', async () => {
    const { body: page } = await api<{ total: number }>(
      'GET',
      `/v1/webhooks/${endpoint.id}/deliveries?status=DELIVERED`,
    )
    return page.total === products + OTHER_EVENTS
  })
  await eventually('the collection has its products', async () => {
    const { body: page } = await api<{ items: { product_count: number }[] }>('GET', '/v1/collections')
    return page.items[0]?.product_count === products + 30
  })
  return { ...workspace, products: created.map((product) => product.id), order: order.id, endpoint: endpoint.id }
}
