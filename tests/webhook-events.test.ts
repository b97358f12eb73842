import { randomUUID } from 'node:crypto'
import type { Customer } from '@backoffice/contracts/customer.ts'
import type { Fulfillment, Invoice, Order } from '@backoffice/contracts/order.ts'
import type { Category, Product, Tag } from '@backoffice/contracts/product.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, it } from 'vitest'
import { aProduct } from './testing/products.ts'
import { sharedStack } from './testing/stack.ts'
import { subscribedAt } from './testing/subscriber.ts'
import { eventOf } from './testing/webhooks.ts'

const stack = await sharedStack()
const receiver = await startReceiver()
const subscribed = () => subscribedAt(receiver, stack.description())

describe('Event names and data: changes made by the API fire', () => {
  it('product.created and product.updated with the product, product.deleted with its id (OP-67), each once', async () => {
    const { change, eventsOf } = await subscribed()
    const created = await change<Product>('POST', '/v1/products', aProduct())
    const renamed = await change<Product>('PUT', `/v1/products/${created.id}`, { name: 'Cup' })
    await change('PUT', `/v1/products/${created.id}`, { name: 'Cup' })
    await change('GET', `/v1/products/${created.id}`)
    await change('DELETE', `/v1/products/${created.id}`)
    expect(await eventsOf(created.id)).toEqual([
      { type: 'product.created', data: created },
      { type: 'product.updated', data: renamed },
      { type: 'product.deleted', data: { id: created.id } },
    ])
  })

  it('product.updated for each tagging and untagging, tag.created and tag.deleted with {id, name, slug}', async () => {
    const { change, eventsOf, eventsSoFar } = await subscribed()
    const product = await change<Product>('POST', '/v1/products', aProduct())
    const path = `/v1/products/${product.id}`
    const tagged = await change<Product>('PUT', path, { tags: ['New in', 'Gift'] })
    const untagged = await change<Product>('PUT', path, { tags: ['Gift'] })
    const [gift, newIn] = (await change<{ items: Tag[] }>('GET', '/v1/tags')).items
    await change('DELETE', `/v1/tags/${gift?.id}`)
    await eventsSoFar(7)
    const afterwards = await change<Product>('GET', path)
    await change('DELETE', path)
    expect(await eventsOf(product.id)).toEqual([
      { type: 'product.created', data: product },
      { type: 'product.updated', data: tagged },
      { type: 'product.updated', data: untagged },
      { type: 'product.updated', data: afterwards },
      { type: 'product.deleted', data: { id: product.id } },
    ])
    const data = { id: gift?.id, name: 'Gift', slug: 'gift' }
    expect(await eventsOf(String(gift?.id))).toEqual([
      { type: 'tag.created', data },
      { type: 'tag.deleted', data },
    ])
    const made = (await eventsSoFar(8)).filter(({ type }) => type === 'tag.created')
    expect(made.map(({ data }) => data)).toContainEqual({ id: newIn?.id, name: 'New in', slug: 'new-in' })
  })

  it('product.updated for a variant that is added, changed or deleted (OP-94)', async () => {
    const { change, eventsOf } = await subscribed()
    const { sku: _, stock: __, price: ___, ...common } = aProduct({ type: 'VARIABLE_PRODUCT' })
    const variant = (size: string) => ({ sku: randomUUID(), attributes: { Size: size }, stock: 1, price: { NGN: 1 } })
    const options = [{ name: 'Size', values: ['S'] }]
    const product = await change<Product>('POST', '/v1/products', { ...common, options, variants: [variant('S')] })
    const path = `/v1/products/${product.id}`
    const { id } = await change<{ id: string }>('POST', `${path}/variants`, variant('M'))
    const versions = [product, await change<Product>('GET', path)]
    await change('PUT', `${path}/variants/${id}`, { stock: 9 })
    versions.push(await change<Product>('GET', path))
    await change('DELETE', `${path}/variants/${id}`)
    versions.push(await change<Product>('GET', path))
    await change('DELETE', path)
    const [, ...updates] = (await eventsOf(product.id)).slice(0, -1)
    expect(updates).toEqual(versions.slice(1).map((data) => ({ type: 'product.updated', data })))
  })

  it('category.created, .updated and .deleted with {id, name, slug, parent, position}, those of moved children too', async () => {
    const { change, eventsOf } = await subscribed()
    const root = await change<Category>('POST', '/v1/categories', { name: 'Cups', position: 3 })
    expect(root).toEqual({ id: root.id, name: 'Cups', slug: 'cups', parent: null, position: 3 })
    const renamed = await change<Category>('PUT', `/v1/categories/${root.id}`, { name: 'Mugs' })
    const child = await change<Category>('POST', '/v1/categories', { name: 'Small', parent: root.id })
    await change('DELETE', `/v1/categories/${root.id}`)
    await change('DELETE', `/v1/categories/${child.id}`)
    expect(await eventsOf(root.id)).toEqual([
      { type: 'category.created', data: root },
      { type: 'category.updated', data: renamed },
      { type: 'category.deleted', data: renamed },
    ])
    expect(await eventsOf(child.id)).toEqual([
      { type: 'category.created', data: child },
      { type: 'category.updated', data: { ...child, parent: null } },
      { type: 'category.deleted', data: { ...child, parent: null } },
    ])
  })

  it('category.created and tag.created for those that a product makes on the way (OP-25)', async () => {
    const { change, eventsSoFar } = await subscribed()
    const product = await change<Product>(
      'POST',
      '/v1/products',
      aProduct({ category: { name: 'Cups' }, tags: ['Gift'] }),
    )
    const [tag] = (await change<{ items: Tag[] }>('GET', '/v1/tags')).items
    const [category] = product.categories
    const events = (await eventsSoFar(3)).toSorted((a, b) => a.type.localeCompare(b.type))
    expect(events).toEqual([
      { type: 'category.created', data: { id: category?.id, name: 'Cups', slug: 'cups', parent: null, position: 0 } },
      { type: 'product.created', data: product },
      { type: 'tag.created', data: tag },
    ])
  })

  it('order, invoice, fulfillment and customer events on the way from a form to a fulfilled order (OP-40 to OP-48)', async () => {
    const { change, eventsSoFar } = await subscribed()
    const product = await change<Product>('POST', '/v1/products', aProduct({ price: { EUR: 1500 } }))
    const cart = await change<Order>('POST', '/v1/orders', {
      currency: 'EUR',
      items: [{ sku: product.variants[0]?.sku, quantity: 2 }],
      customer: { firstname: 'Ada', email: 'ada@example.com' },
      shipping_address: { city: 'Lagos' },
    })
    const path = `/v1/orders/${cart.id}`
    const placed = await change<Order>('PUT', path, { status: 'PLACED' })
    await change('POST', `${path}/payments`, { amount: 3000, currency: 'EUR', reference: 'till-1' })
    const paid = await change<Order>('GET', path)
    expect(paid).toMatchObject({ status: 'PLACED', payment_status: 'PAID' })
    const fulfillment = await change<Fulfillment>('POST', `${path}/fulfillments`)
    const fulfilled = await change<Order>('GET', path)
    const { items } = await change<{ items: Invoice[] }>('GET', `${path}/invoices`)
    const { id, number, order, currency, total } = items[0] as Invoice
    const customer = await change<Customer>('GET', `/v1/customers/${cart.customer?.id}`)

    // Beside product.created, and product.updated for the stock that the order has taken (OP-71).
    const events = (await eventsSoFar(10)).filter(({ type }) => !type.startsWith('product.'))
    expect(events.filter(({ type }) => type.startsWith('order.'))).toEqual([
      { type: 'order.created', data: cart },
      { type: 'order.updated', data: placed },
      { type: 'order.updated', data: paid },
      { type: 'order.paid', data: paid },
      { type: 'order.updated', data: fulfilled },
    ])
    const others = events.filter(({ type }) => !type.startsWith('order.')).sort((a, b) => (a.type < b.type ? -1 : 1))
    expect(others).toEqual([
      { type: 'customer.created', data: customer },
      { type: 'fulfillment.created', data: fulfillment },
      { type: 'invoice.paid', data: { id, number, order, currency, total } },
    ])
  })
})

describe('timestamp (docs/webhooks.md: Order)', () => {
  it.each([
    ['/v1/products', aProduct(), 'name'],
    ['/v1/categories', { name: 'Cups' }, 'name'],
    ['/v1/collections', { name: 'Cups' }, 'description'],
    ['/v1/customers', { firstname: 'Ada' }, 'note'],
  ])('grows with each change of one of %s, also when many change it at once', async (path, body, member) => {
    const { api, change, eventsSoFar, requests } = await subscribed()
    const { id, handle = id } = await change<{ id: string; handle?: string }>('POST', path, body)
    const changes = Array.from({ length: 12 }, (_, n) => api('PUT', `${path}/${handle}`, { [member]: `change ${n}` }))
    // The deletion of a customer fires nothing.
    if (member !== 'note') changes.splice(6, 0, api('DELETE', `${path}/${handle}`))
    const made = (await Promise.all(changes)).filter(({ status }) => status < 300)
    await eventsSoFar(1 + made.length)
    const arrived = new Map(requests().map((request) => [eventOf(request).id, eventOf(request).timestamp]))
    const times = [...arrived.values()]
    expect(times).toEqual([...new Set(times)].sort())
  })

  it('of an order grows with each change, and two events at one time have the same data', async () => {
    const { api, change, eventsSoFar, requests } = await subscribed()
    const product = await change<Product>('POST', '/v1/products', aProduct({ price: { EUR: 1500 } }))
    const items = [{ sku: product.variants[0]?.sku, quantity: 1 }]
    const { id } = await change<Order>('POST', '/v1/orders', { currency: 'EUR', items, status: 'PLACED' })
    const path = `/v1/orders/${id}`
    const notes = Array.from({ length: 12 }, (_, n) => api('PUT', path, { note: `change ${n}` }))
    const payment = { amount: 1500, currency: 'EUR', reference: 'till-1' }
    await Promise.all([...notes, api('POST', `${path}/payments`, payment)])
    // With product.created, product.updated for the stock, and invoice.paid.
    await eventsSoFar(1 + 1 + 2 + notes.length + 2 + 1)
    const events = requests().map(eventOf)
    const states = events.filter(({ type }) => type.startsWith('order.'))
    const times = states.map(({ timestamp }) => timestamp)
    expect(times).toEqual(times.toSorted())
    expect(new Set(states.map(({ data }) => JSON.stringify(data))).size).toBe(new Set(times).size)
  })
})
