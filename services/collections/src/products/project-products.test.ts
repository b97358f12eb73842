import { randomUUID } from 'node:crypto'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { consumer } from '@backoffice/messaging/consumers/consumer.ts'
import { aTopic, collect, silent, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it } from 'vitest'
import { ruleSets } from '../memberships/rule-sets.ts'
import { aProductState, collectionsService } from '../testing/collections-api.ts'
import { expireBatch } from './delete-products.ts'
import { latestStates } from './product-state.ts'
import { projectProducts } from './project-products.ts'
import { projector, recordOf } from './testing/projection.ts'

const { admin, worker, workerUrl, send, create, project, productsOf, membershipDifferences } =
  await collectionsService()
let statements: string[] = []
const counted = openDatabase({
  url: workerUrl,
  applicationName: 'counted',
  onStatement: (text) => statements.push(text),
})
whenDone(() => counted.stop?.())
const projectTold = projector(counted.sql)

const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 1 }] }
const everything = { membership_type: 'SMART', rules: inStock, sort_order: 'TITLE_ASC' }

const versionOf = async ({ id }: ProductState) => {
  const [row] = await admin<{ version: number }[]>`select version::integer as version from product where id = ${id}`
  return row?.version
}
const later = (state: ProductState, version: number, differences: Partial<ProductState> = {}): ProductState => ({
  ...state,
  version,
  ...differences,
})

describe('Whatever comes again, late or out of order, the projection has the newest state', () => {
  it('a state that comes again, or after a newer one, changes nothing', async () => {
    const caller = aCaller()
    const collection = await create(caller, everything)
    const first = aProductState({ name: 'First' })
    const second = later(first, 2, { name: 'Second' })
    await project(caller, first, second)
    const [before] = await admin`select xmin from product where id = ${first.id}`
    await project(caller, first)
    await project(caller, second, first)
    expect([await versionOf(first), await productsOf(caller, collection)]).toEqual([2, ['Second']])
    expect(await admin`select xmin from product where id = ${first.id}`).toEqual([before])
  })

  it('of several states that come together the one with the highest version counts, wherever it stands', async () => {
    const caller = aCaller()
    const product = aProductState()
    await project(caller, later(product, 2), later(product, 9), later(product, 3))
    expect(await versionOf(product)).toBe(9)
  })

  it('a state counts for the product that it is of, whatever the key says', async () => {
    const product = aProductState()
    const { workspaceId } = aCaller()
    const value = (version: number) => ({ workspace_id: workspaceId, data: later(product, version) })
    const records = [3, 9, 4].map((version) => ({ key: randomUUID(), value: value(version) }))
    expect(latestStates(records)).toEqual({ states: [value(9)], deleted: [] })
  })

  it.each([
    ['after it', (state: ProductState) => [[state], [state.id], [later(state, 7)]]],
    ['together with it', (state: ProductState) => [[state], [later(state, 7), state.id, later(state, 8)]]],
    ['before the product was known at all', (state: ProductState) => [[state.id], [state]]],
  ])('a deleted product stays deleted: a state that comes %s brings none back', async (_, batches) => {
    const caller = aCaller()
    const collection = await create(caller, everything)
    const product = aProductState()
    for (const batch of batches(product)) await project(caller, ...batch)
    expect([await versionOf(product), await productsOf(caller, collection)]).toEqual([undefined, []])
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('deletions are remembered for 90 days', async () => {
    const [young, old] = [randomUUID(), randomUUID()]
    await project(aCaller(), young, old)
    await admin`update deleted_product set deleted_at = now() - interval '89 days 23 hours' where id = ${young}`
    await admin`update deleted_product set deleted_at = now() - interval '90 days 1 minute' where id = ${old}`
    await expireBatch(worker.sql)
    expect(await admin`select id from deleted_product where id in (${young}, ${old})`).toEqual([{ id: young }])
  })
})

describe('A state is read as far as it is needed', () => {
  it('members that nobody knows yet fail nothing, at any depth, and are shown', async () => {
    const caller = aCaller()
    const collection = await create(caller, everything)
    const product = aProductState({ name: 'New' })
    const [variant] = product.variants
    const grown = {
      ...product,
      warranty: { years: 2 },
      categories: [{ id: randomUUID(), name: 'A', slug: 'a', parent: null, parent_slug: null, depth: 1 }],
      tags: [{ id: randomUUID(), name: 'T', slug: 't', colour: 'red' }],
      price_range: { ...product.price_range, median: { EUR: 1000 } },
      variants: [{ ...variant, barcode: '4006381333931' }],
    }
    await projectTold([{ workspaceId: caller.workspaceId, product: grown as ProductState }])
    const [row] = await admin<{ body: typeof grown }[]>`select body from product where id = ${product.id}`
    const { slug: _slug, tags: _tags, version: _version, ...shown } = grown
    const { cost: _cost, ...shownVariant } = shown.variants[0] as typeof variant & object
    expect(row?.body).toEqual({ ...shown, variants: [shownVariant] })
    expect(Object.keys(row?.body ?? {})).toEqual(Object.keys(shown))
    expect(
      await admin`select from collection_member join membership_version on number = version_number where collection_id = ${collection.id}`,
    ).toHaveLength(1)
  })

  it('2,048 variants are one product', async () => {
    const caller = aCaller()
    const [variant] = aProductState().variants
    const variants = Array.from({ length: 2048 }, (_, n) => ({ ...variant, id: randomUUID(), sku: `SKU ${n}` }))
    const rules = { match: 'all', conditions: [{ field: 'sku', operator: 'eq', value: 'sku 2047' }] }
    const collection = await create(caller, { membership_type: 'SMART', rules })
    await project(caller, aProductState({ name: 'Many', variants: variants as ProductState['variants'] }))
    expect(await productsOf(caller, collection)).toEqual(['Many'])
  })

  it('one that nobody can read goes to the dead letters, and the product’s later states go on', async () => {
    const letters = deadLetterTopic('collections.products')
    const { kafka, open } = await testKafka([aTopic(TOPICS.catalogProducts), aTopic(letters)])
    const reader = consumer(projectProducts(ruleSets()), {
      kafka: open(),
      db: worker,
      logger: silent,
      fatal: (reason) => expect.fail(String(reason)),
    })
    await reader.start()
    whenDone(() => reader.stop())
    const { workspaceId } = aCaller()
    const product = aProductState()
    const dead = collect(kafka, letters)
    const broken = { ...later(product, 2), variants: [{ sku: 7 }] }
    const states = [product, broken as unknown as ProductState, later(product, 3)]
    await kafka.produce(states.map((state) => recordOf({ workspaceId, product: state })))
    await eventually('the later state is there', async () => (await versionOf(product)) === 3)
    const [letter] = await dead.atLeast(1)
    expect(String(letter?.headers['dead-letter-reason'])).toContain('data.variants[0].sku: ')
  })
})

describe('Members follow their products', () => {
  it('products of many workspaces that come together go to the collections of their own', async () => {
    const callers = Array.from({ length: 5 }, () => aCaller())
    const collections = await Promise.all(callers.map((caller) => create(caller, everything)))
    await projectTold(
      callers.map(({ workspaceId }, n) => ({ workspaceId, product: aProductState({ name: String(n) }) })),
    )
    for (const [n, caller] of callers.entries()) {
      expect(await productsOf(caller, collections[n] as { id: string })).toEqual([String(n)])
    }
  })

  it('rules that have changed since the last product count for the next', async () => {
    const caller = aCaller()
    const collection = await create(caller, everything)
    await project(caller, aProductState({ name: 'Before', total_stock: 3 }))
    const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 5 }] }
    await send(caller, 'PUT', `/v1/collections/${collection.id}`, { rules })
    await project(caller, aProductState({ name: 'Few', total_stock: 4 }), aProductState({ name: 'Many' }))
    expect(await productsOf(caller, collection)).toEqual(['Many'])
  })

  /** The number of statements for these states. */
  async function statementsOf({ workspaceId }: { workspaceId: string }, ...products: (ProductState | string)[]) {
    statements = []
    await projectTold(products.map((product) => ({ workspaceId, product })))
    return statements
  }

  it('what neither rules nor orders ask for touches no member', async () => {
    const caller = aCaller()
    await create(caller, everything)
    const product = aProductState()
    await project(caller, product)
    const sent = await statementsOf(caller, later(product, 2, { description: 'New' }))
    expect(sent.filter((text) => text.includes('collection_member'))).toEqual([])
    const [row] = await admin`select body->>'description' as description from product where id = ${product.id}`
    expect(row?.description).toBe('New')
  })

  it('a batch takes as many statements whether it is of two products or of 200', async () => {
    const caller = aCaller()
    await create(caller, everything)
    const [first, second, ...others] = Array.from({ length: 202 }, () => aProductState()) as [
      ProductState,
      ProductState,
      ...ProductState[],
    ]
    // The first call reads the rules into the cache.
    await statementsOf(caller, first, second, ...others)
    const change = (state: ProductState) => later(state, 2, { total_stock: 0 })
    const few = await statementsOf(caller, change(first), second.id)
    const many = await statementsOf(caller, ...others.slice(1).map(change), others[0]?.id ?? '')
    expect(many).toHaveLength(few.length)
    expect(few.length).toBeLessThanOrEqual(13)
  })
})
