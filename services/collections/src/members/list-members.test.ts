import { randomUUID } from 'node:crypto'
import type { Collection, SortOrder } from '@backoffice/contracts/collection.ts'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { describe, expect, it } from 'vitest'
import { aProductState, collectionsService, type ProductPage } from '../testing/collections-api.ts'

const { send, create, products, project, productsOf, takeStatements } = await collectionsService()

const everything = { match: 'all', conditions: [{ field: 'name', operator: 'is_set' }] }
const get = (caller: Caller, { id }: { id: string }, query = '') =>
  send<ProductPage & Partial<ErrorBody>>(caller, 'GET', `/v1/collections/${id}/products${query}`)
const ruled = (caller: Caller, sort_order: SortOrder) =>
  create(caller, { membership_type: 'SMART', rules: everything, sort_order })

/** Creates a collection with hand-picked products of these names. */
async function collectionOf(caller: Caller, ...names: string[]): Promise<[Collection, ProductState[]]> {
  const states = await products(caller, ...names)
  const collection = await create(caller)
  await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: states.map(({ id }) => id) })
  return [collection, states]
}

describe('The products of a collection (OP-33)', () => {
  it('are shown with exactly the product body, by handle or id', async () => {
    const caller = aCaller()
    const [collection, [state]] = await collectionOf(caller, 'Shirt')
    const { slug, tags, version, ...body } = state as ProductState
    for (const named of [collection.id, collection.handle]) {
      const { items } = (await get(caller, { id: named })).body
      expect(items).toEqual([{ ...body, variants: body.variants.map(({ cost: _, ...variant }) => variant) }])
    }
  })

  it('are the storefront-available ones, so that total is product_count (OP-20)', async () => {
    const caller = aCaller()
    const states = (['ACTIVE', 'HIDDEN', 'ARCHIVED', 'ACTIVE'] as const).map((status) => aProductState({ status }))
    await project(caller, ...states)
    const collection = await ruled(caller, 'MANUAL')
    const { total, items } = (await get(caller, collection)).body
    expect([total, items.map(({ id }) => id), collection.product_count]).toEqual([2, [states[0]?.id, states[3]?.id], 2])
  })

  it('of a draft, or of another workspace’s collection, are not_found', async () => {
    const caller = aCaller()
    const { id } = await create(caller, { published: false })
    for (const reader of [caller, aCaller()]) {
      const { status, body } = await get(reader, { id })
      expect([status, body.error?.code]).toEqual([404, 'not_found'])
    }
  })

  it('need the scope product::read', async () => {
    const caller = aCaller()
    expect((await get({ ...caller, scopes: ['sale'] }, await create(caller))).status).toBe(403)
  })
})

describe('The six sort orders', () => {
  const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()
  const samples: Partial<ProductState>[] = [
    { name: 'b', created_at: at(2), total_stock: 10 },
    { name: 'A', created_at: at(1), total_stock: -5 },
    { name: 'ba', created_at: at(1000), total_stock: 9_007_199_254_740_991 },
    { name: 'é', created_at: at(0), total_stock: 0 },
    { name: 'Ab', created_at: at(999), total_stock: 9 },
  ]
  const expected: Record<SortOrder, string[]> = {
    MANUAL: ['b', 'A', 'ba', 'é', 'Ab'],
    TITLE_ASC: ['A', 'Ab', 'b', 'ba', 'é'],
    TITLE_DESC: ['é', 'ba', 'b', 'Ab', 'A'],
    CREATED_ASC: ['é', 'A', 'b', 'Ab', 'ba'],
    CREATED_DESC: ['ba', 'Ab', 'b', 'A', 'é'],
    STOCK_DESC: ['ba', 'b', 'Ab', 'é', 'A'],
  }

  it.each(Object.entries(expected) as [SortOrder, string[]][])(
    '%s holds for products that are there, come, change and are picked by hand',
    async (sort_order, names) => {
      const caller = aCaller()
      const states = samples.map(aProductState)
      await project(caller, ...states.slice(0, 2))
      const collections = [await ruled(caller, sort_order), await create(caller, { sort_order })]
      await project(caller, ...states.slice(2).map((state) => ({ ...state, name: 'other', total_stock: 1 })))
      const picked = { products: states.map(({ id }) => id) }
      await send(caller, 'POST', `/v1/collections/${collections[1]?.id}/products`, picked)
      await project(caller, ...states.map((state) => ({ ...state, version: 2 })))
      for (const collection of collections) expect(await productsOf(caller, collection)).toEqual(names)
    },
  )

  it.each(Object.keys(expected) as SortOrder[])('%s: equal keys go by product id (OP-35)', async (sort_order) => {
    const caller = aCaller()
    const states = Array.from({ length: 9 }, () => aProductState({ id: randomUUID(), created_at: at(0) }))
    await project(caller, ...states)
    const collection = await ruled(caller, sort_order)
    const ids: string[] = []
    for (let page = 1; page <= 3; page++) {
      ids.push(...(await get(caller, collection, `?limit=3&page=${page}`)).body.items.map(({ id }) => id))
    }
    expect(ids).toEqual(states.map(({ id }) => id).toSorted())
  })
})

describe('Pages', () => {
  it('the page object is exact, beyond the end too', async () => {
    const caller = aCaller()
    const [collection] = await collectionOf(caller, 'A', 'B', 'C')
    const page = async (query: string) => {
      const { items, ...members } = (await get(caller, collection, query)).body
      return [members, items.map(({ name }) => name).join('')]
    }
    const common = { size: 2, total: 3, total_pages: 2 }
    expect(await page('?limit=2')).toEqual([
      { ...common, page: 1, has_next_page: true, has_previous_page: false },
      'AB',
    ])
    const last = { ...common, page: 2, has_next_page: false, has_previous_page: true }
    expect(await page('?size=2&page=2')).toEqual([last, 'C'])
    expect(await page('?limit=2&page=3')).toEqual([{ ...last, page: 3 }, ''])
    expect((await get(caller, await create(caller))).body).toEqual({
      page: 1,
      size: 20,
      total: 0,
      total_pages: 0,
      has_next_page: false,
      has_previous_page: false,
      items: [],
    })
  })

  it.each(['page=0', 'page=x', 'limit=101', 'size=0', 'size=101', 'size=abc', 'after=3', 'before=x'])(
    '?%s is bad_request',
    async (query) => {
      const caller = aCaller()
      const { status, body } = await get(caller, await create(caller), `?${query}`)
      expect([status, body.error?.code]).toEqual([400, 'bad_request'])
    },
  )
})

describe('after, the last product of the page before (OP-114)', () => {
  it('leads to the next page, and each page tells whether another follows', async () => {
    const caller = aCaller()
    const [collection, states] = await collectionOf(caller, 'A', 'B', 'C', 'D')
    const seen: [string, boolean, boolean][] = []
    let after: string | undefined
    do {
      const { body } = await get(caller, collection, `?limit=2${after ? `&after=${after.toUpperCase()}` : ''}`)
      seen.push([body.items.map(({ name }) => name).join(''), body.has_next_page, body.has_previous_page])
      after = body.has_next_page ? body.items.at(-1)?.id : undefined
    } while (after)
    expect(seen).toEqual([
      ['AB', true, false],
      ['CD', false, true],
    ])
    const { body } = await get(caller, collection, `?limit=2&page=7&after=${states[3]?.id}`)
    expect(body).toEqual({
      page: 7,
      size: 2,
      total: 4,
      total_pages: 2,
      has_next_page: false,
      has_previous_page: true,
      items: [],
    })
  })

  it('goes on behind a product that the storefront no longer shows', async () => {
    const caller = aCaller()
    const [collection, [, b]] = await collectionOf(caller, 'A', 'B', 'C')
    await project(caller, { ...(b as ProductState), status: 'HIDDEN', version: 2 })
    const { items } = (await get(caller, collection, `?after=${b?.id}`)).body
    expect(items.map(({ name }) => name)).toEqual(['C'])
  })

  it('that is no member, any more or ever, is unprocessable: an empty page would look like the end', async () => {
    const caller = aCaller()
    const [collection, [a]] = await collectionOf(caller, 'A', 'B')
    const [other] = await products(caller, 'Other')
    await send(caller, 'DELETE', `/v1/collections/${collection.id}/products`, { products: [a?.id] })
    for (const after of [a?.id, other?.id, randomUUID()]) {
      const { status, body } = await get(caller, collection, `?after=${after}`)
      expect([status, body.error?.code, body.error?.message]).toEqual([
        422,
        'unprocessable',
        `after: the collection has no product ${after}; start again without it`,
      ])
    }
  })
})

it('takes one statement besides the transaction’s own, so that total and products are of one moment', async () => {
  const caller = aCaller()
  const [collection, [a]] = await collectionOf(caller, 'A', 'B')
  for (const query of ['', '?page=2', `?after=${a?.id}`]) {
    takeStatements()
    await get(caller, collection, query)
    expect(takeStatements().length).toBeLessThanOrEqual(4)
  }
})

describeWalks('the products of a collection', {
  send,
  async list() {
    const [caller, other] = [aCaller(), aCaller()]
    const names = Array.from({ length: 14 }, (_, index) => `Shirt ${index}`)
    const [collection, states] = await collectionOf(caller, ...names)
    const [, [foreign]] = await collectionOf(other, 'Foreign')
    let version = 1
    return {
      caller,
      path: `/v1/collections/${collection.id}/products`,
      foreign: foreign?.id ?? '',
      async insert() {
        const [state] = await products(caller, 'New')
        await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: [state?.id] })
      },
      change: async (id) => {
        const state = states.find((one) => one.id === id)
        if (state !== undefined) await project(caller, { ...state, name: 'Changed', version: ++version })
      },
    }
  },
  lacks: 'the collection has no product',
})
