import type { Collection } from '@backoffice/contracts/collection.ts'
import type { Category, Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, it } from 'vitest'
import { PIXEL, upload } from './testing/files.ts'
import { aProduct } from './testing/products.ts'
import { sharedStack } from './testing/stack.ts'
import { subscribedAt } from './testing/subscriber.ts'
import { newWorkspace } from './testing/workspaces.ts'

const stack = await sharedStack()
const receiver = await startReceiver()

/** A new workspace and the calls that these tests make there. */
async function shop() {
  const { api, key } = await newWorkspace(stack.description())
  const change = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await api<Body>(method, path, body)
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
    return answer.body
  }
  const productsOf = async ({ id }: Collection) =>
    (await api<{ items: Product[] }>('GET', `/v1/collections/${id}/products?limit=100`)).body.items
  return {
    api,
    key,
    change,
    productsOf,
    newProduct: (members = {}) => change<Product>('POST', '/v1/products', aProduct(members)),
    newCollection: (members = {}) =>
      change<Collection>('POST', '/v1/collections', { name: 'Summer', published: true, ...members }),
    /** Waits until the collection shows these products and their count. */
    shows: (collection: Collection, ids: string[]) =>
      eventually(`${collection.name} shows ${ids.length} products`, async () => {
        const shown = (await productsOf(collection)).map(({ id }) => id)
        const { body } = await api<Collection>('GET', `/v1/collections/${collection.id}`)
        return shown.join() === ids.join() && body.product_count === ids.length
      }),
  }
}

const smart = (field: string, operator: string, value?: unknown) => ({
  name: `${field} ${operator}`,
  membership_type: 'SMART',
  rules: { match: 'all', conditions: [{ field, operator, value }] },
})

describe('a SMART collection follows the catalog', () => {
  it('a product that is made there joins, shown exactly as the catalog shows it; its deletion takes it out', async () => {
    const { api, change, newProduct, newCollection, productsOf, shows } = await shop()
    const collection = await newCollection(smart('name', 'contains', 'mug'))
    const { id } = await newProduct({ name: 'Blue Mug', tags: ['Gift'], category: { name: 'Cups' } })
    await newProduct({ name: 'Plate' })
    await shows(collection, [id])
    expect(await productsOf(collection)).toEqual([(await api<Product>('GET', `/v1/products/${id}`)).body])
    await change('DELETE', `/v1/products/${id}`)
    await shows(collection, [])
  })

  it.each([
    ['its tags', smart('tag', 'eq', 'Sale'), { tags: ['Sale', 'New'] }, { tags: ['New'] }],
    ['its price', smart('price.NGN', 'lt', 1000), { price: { NGN: 999 } }, { price: { NGN: 1000 } }],
    ['its stock', smart('stock', 'lte', 2), { stock: 2 }, { stock: 3 }],
    ['its status', smart('name', 'is_set'), { status: 'ACTIVE' }, { status: 'HIDDEN' }],
  ])('a product moves in and out with %s', async (_, members, into, out) => {
    const { change, newProduct, newCollection, shows } = await shop()
    const collection = await newCollection(members)
    const { id } = await newProduct(out)
    await shows(collection, [])
    await change('PUT', `/v1/products/${id}`, into)
    await shows(collection, [id])
    await change('PUT', `/v1/products/${id}`, out)
    await shows(collection, [])
  })

  it('a product moves in and out with its category, and when the category’s slug changes', async () => {
    const { change, newProduct, newCollection, shows } = await shop()
    const { id: category } = await change<Category>('POST', '/v1/categories', { name: 'Caps' })
    const bySlug = await newCollection(smart('category', 'eq', 'caps'))
    const byId = await newCollection({ ...smart('category', 'in', [category]), name: 'by id' })
    const { id } = await newProduct({ categories: ['caps'] })
    await shows(bySlug, [id])
    await change('PUT', `/v1/categories/${category}`, { slug: 'headwear' })
    await shows(bySlug, [])
    await shows(byId, [id])
    await change('PUT', `/v1/categories/${category}`, { slug: 'caps' })
    await shows(bySlug, [id])
    await change('PUT', `/v1/products/${id}`, { categories: [] })
    await shows(bySlug, [])
    await shows(byId, [])
  })

  it('a tag that is deleted takes its products out', async () => {
    const { change, newProduct, newCollection, shows } = await shop()
    const collection = await newCollection(smart('tag', 'eq', 'sale'))
    const { id } = await newProduct({ tags: ['Sale'] })
    await shows(collection, [id])
    const [tag] = (await change<{ items: { id: string }[] }>('GET', '/v1/tags')).items
    await change('DELETE', `/v1/tags/${tag?.id}`)
    await shows(collection, [])
  })
})

describe('a MANUAL collection', () => {
  it('takes products that were made moments ago (OP-33), keeps their order, and loses those that are deleted', async () => {
    const { change, newProduct, newCollection, shows } = await shop()
    const collection = await newCollection()
    const path = `/v1/collections/${collection.handle}/products`
    const ids: string[] = []
    for (let n = 0; n < 10; n++) {
      const { id } = await newProduct()
      await change('POST', path, { products: [id] })
      ids.push(id)
    }
    await shows(collection, ids)
    await change('PUT', `${path}/order`, { positions: ids.map((product, n) => ({ product, position: 9 - n })) })
    await shows(collection, ids.toReversed())
    await change('DELETE', path, { products: [ids[4]] })
    await change('DELETE', `/v1/products/${ids[5]}`)
    await shows(collection, ids.toReversed().toSpliced(4, 2))
  })
})

it('a draft is invisible to reads, whoever asks, and yet written to', async () => {
  const { api, change, newCollection } = await shop()
  const draft = await newCollection({ published: false })
  for (const path of [draft.handle, draft.id, `${draft.handle}/products`]) {
    expect((await api('GET', `/v1/collections/${path}`)).status).toBe(404)
  }
  expect((await change<{ total: number }>('GET', '/v1/collections')).total).toBe(0)
  const published = await change<Collection>('PUT', `/v1/collections/${draft.handle}`, { published: true })
  expect(await change<{ items: Collection[] }>('GET', '/v1/collections')).toMatchObject({ items: [published] })
})

it('a cover image is an uploaded picture, which whoever asks is given', async () => {
  const { api, key, newCollection } = await shop()
  const { gateway } = stack.description()
  const { body: asset } = await upload(gateway, { authorization: `Bearer ${key}` }, PIXEL)
  const { image_url, image_thumbnail } = await newCollection({ image: asset.id })
  expect([image_url, image_thumbnail]).toEqual([asset.url, asset.thumbnail])
  for (const url of [image_url, image_thumbnail]) expect((await fetch(url ?? '')).status).toBe(200)
  const text = await upload(gateway, { authorization: `Bearer ${key}` }, new TextEncoder().encode('text'), 'a.txt')
  const strangers = await upload(gateway, { authorization: `Bearer ${(await shop()).key}` }, PIXEL)
  for (const image of [text.body.id, strangers.body.id]) {
    const { status, body } = await api('POST', '/v1/collections', { name: 'Winter', image })
    expect([status, body.error.message]).toEqual([
      422,
      `image: this workspace has no picture ${image}; upload it with POST /v1/assets`,
    ])
  }
})

describe('collection events: only the collection entity emits them', () => {
  it('created, updated and deleted, with what was answered; products that join and leave send none', async () => {
    const { change, eventsOf, eventsSoFar } = await subscribedAt(receiver, stack.description())
    const rules = smart('stock', 'gt', 0)
    const created = await change<Collection>('POST', '/v1/collections', { name: 'Summer', published: true })
    const path = `/v1/collections/${created.id}`
    const product = await change<Product>('POST', '/v1/products', aProduct())
    await change('POST', `${path}/products`, { products: [product.id] })
    await eventually('it has arrived', async () => (await change<Collection>('GET', path)).product_count === 1)
    await change('PUT', `${path}/products/order`, { positions: [{ product: product.id, position: 7 }] })
    const updated = await change<Collection>('PUT', path, { name: 'Winter' })
    const ruled = await change<Collection>('PUT', path, rules)
    expect([created.product_count, updated.product_count, ruled.product_count]).toEqual([0, 1, 1])
    const soldOut = await change<Product>('PUT', `/v1/products/${product.id}`, { stock: 0 })
    await eventually('it has left', async () => (await change<Collection>('GET', path)).product_count === 0)
    await change('PUT', path, { name: ruled.name })
    await change('DELETE', path)
    expect(await eventsOf(created.id)).toEqual([
      { type: 'collection.created', data: created },
      { type: 'collection.updated', data: updated },
      { type: 'collection.updated', data: ruled },
      { type: 'collection.deleted', data: { id: created.id } },
    ])
    const others = (await eventsSoFar(6)).filter(({ data }) => data.id !== created.id)
    expect(others).toEqual([
      { type: 'product.created', data: product },
      { type: 'product.updated', data: soldOut },
    ])
  })
})
