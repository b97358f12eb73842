import { randomUUID } from 'node:crypto'
import type { OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { planOf, plansOf, readWhole, type SentStatement } from '@backoffice/testing/query-plan.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it } from 'vitest'
import { createProduct } from '../products/create-product.ts'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { updateProduct } from '../products/update-product.ts'
import { readVariants } from './read-variants.ts'

const { admin, appUrl, db, takeStatements } = await testDatabase('catalog')
const send = serviceClient(db, [createProduct, updateProduct, readVariants])

const create = async (caller: Caller, product: unknown = aSimpleProduct()) => {
  const { body } = await send<Product>(caller, 'POST', '/v1/products', product)
  return body.variants.map(({ id, sku }) => ({ id, sku: sku ?? '', product: body.id }))
}
const read = async (caller: Caller, wanted: unknown) => {
  const { body } = await send<{ variants: OrderableVariant[] }>(caller, 'POST', '/internal/variants/read', wanted)
  return body.variants
}
const idsOf = (variants: readonly { id: string }[]) => variants.map(({ id }) => id).sort()

it('variants are read by ids and by SKUs, with their prices and their product’s status', async () => {
  const caller = aCaller()
  const [mug] = await create(caller, aSimpleProduct({ name: 'Mug', price: { EUR: 1000, USD: 1200 } }))
  const [cup] = await create(caller, aSimpleProduct({ name: 'Cup', status: 'HIDDEN', price: {} }))
  await create(caller)
  const found = await read(caller, { ids: [mug?.id], skus: [cup?.sku] })
  expect(found.toSorted((a, b) => (a.title < b.title ? 1 : -1))).toEqual([
    { id: mug?.id, sku: mug?.sku, title: 'Mug', status: 'ACTIVE', price: { EUR: 1000, USD: 1200 } },
    { id: cup?.id, sku: cup?.sku, title: 'Cup', status: 'HIDDEN', price: {} },
  ])
})

it('a variant that is wanted twice, by id and by SKU too, comes once', async () => {
  const caller = aCaller()
  const [mug] = await create(caller)
  const found = await read(caller, { ids: [mug?.id, mug?.id?.toUpperCase()], skus: [mug?.sku, mug?.sku] })
  expect(idsOf(found)).toEqual([mug?.id])
})

it('ids and SKUs that the workspace does not have are left out; another workspace’s SKU is its own', async () => {
  const [caller, other] = [aCaller(), aCaller()]
  const sku = randomUUID()
  const [own] = await create(caller, aSimpleProduct({ sku }))
  const [foreign] = await create(other, aSimpleProduct({ sku }))
  const found = await read(caller, { ids: [foreign?.id, randomUUID()], skus: [sku, 'unknown'] })
  expect(idsOf(found)).toEqual([own?.id])
  expect(await read(caller, { ids: [foreign?.id] })).toEqual([])
  expect(await read(caller, {})).toEqual([])
})

it('a title has the chosen values in the order of the product’s options, and is cut at 400 characters', async () => {
  const caller = aCaller()
  const variants = [{ sku: randomUUID(), attributes: { Colour: 'Red', Size: 'M' }, stock: 1 }]
  const options = [
    { name: 'Size', values: ['S', 'M'] },
    { name: 'Colour', values: ['Red', 'Blue'] },
  ]
  const [sizeFirst] = await create(caller, aVariableProduct({ options, variants }))
  const reversed = { options: options.toReversed(), variants: [{ ...variants[0], sku: randomUUID() }] }
  const [colourFirst] = await create(caller, aVariableProduct({ ...reversed, name: 'Coat' }))
  expect((await read(caller, { ids: [sizeFirst?.id] }))[0]?.title).toBe('Shirt - M / Red')
  expect((await read(caller, { ids: [colourFirst?.id] }))[0]?.title).toBe('Coat - Red / M')
  const [name, value] = ['é'.repeat(255), 'ü'.repeat(255)]
  const long = {
    name,
    options: [{ name: 'Print', values: [value] }],
    variants: [{ sku: randomUUID(), attributes: { Print: value }, stock: 0 }],
  }
  const [cut] = await create(caller, aVariableProduct(long))
  expect((await read(caller, { ids: [cut?.id] }))[0]?.title).toBe(`${name} - ${value}`.slice(0, 400))
})

const sent: SentStatement[] = []
const onStatement = (text: string, parameters: unknown[]) => void sent.push({ text, parameters })
const watched = openDatabase({ url: appUrl, applicationName: 'plans', onStatement })
whenDone(() => watched.stop?.())

/** The statement that reads these variants, with its parameters. */
async function statementOf(caller: Caller, wanted: unknown) {
  sent.length = 0
  await serviceClient(watched, [readVariants])(caller, 'POST', '/internal/variants/read', wanted)
  return sent.find(({ text }) => text.includes('wanted as')) ?? expect.fail('nothing was read')
}

it('a title of very many options unpacks the attributes once', async () => {
  const caller = aCaller()
  const names = Array.from({ length: 2000 }, (_, n) => `Option ${n}`)
  const options = names.map((name) => ({ name, values: ['x'] }))
  const attributes = Object.fromEntries(names.map((name) => [name, 'x']))
  const variants = [{ sku: randomUUID(), attributes, stock: 1 }]
  const [variant] = await create(caller, aVariableProduct({ options, variants }))
  const statement = await statementOf(caller, { ids: [variant?.id], skus: [] })
  const [plan] = await db.inWorkspace({ ...caller, traceparent: '' }, (tx) =>
    planOf(tx, statement, 'analyze', 'buffers'),
  )
  // A few of an index for each option.
  expect(plan?.['Shared Hit Blocks']).toBeLessThan(5 * names.length)
})

it.each([
  [
    'ids',
    { ids: Array.from({ length: 1001 }, () => randomUUID()) },
    'body: must have at most 1000 ids and skus together',
  ],
  [
    'ids and SKUs together',
    { ids: Array.from({ length: 500 }, () => randomUUID()), skus: Array.from({ length: 501 }, (_, n) => `sku ${n}`) },
    'body: must have at most 1000 ids and skus together',
  ],
  ['a wrong id', { ids: ['7'] }, 'ids[0]: '],
  ['an unknown member', { names: ['Mug'] }, 'names: unknown member'],
])('refuses %s with bad_request', async (_, wanted, message) => {
  const { status, body } = await send(aCaller(), 'POST', '/internal/variants/read', wanted)
  expect([status, body.error.code]).toEqual([400, 'bad_request'])
  expect(body.error.message).toContain(message)
})

describe('With 50,000 variants', async () => {
  const caller = aCaller()
  for (const { workspaceId } of [caller, aCaller()]) {
    await admin`
      with new_product as (
        insert into product (workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at)
        select ${workspaceId}, uuidv7(), 'Item ' || n, 'item-' || n, 'SIMPLE_PRODUCT', 'ACTIVE', true, false, now(), now()
        from generate_series(1, 25000) as n
        returning id, slug
      )
      insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
      select ${workspaceId}, uuidv7(), id, slug, 0, '{}', '{}', '{}', 1 from new_product`
  }
  await admin`vacuum analyze`
  const some = await admin<{ id: string; sku: string }[]>`
    select id, sku from variant where workspace_id = ${caller.workspaceId} limit 1000`
  const wanted = { ids: some.slice(0, 500).map(({ id }) => id), skus: some.slice(500).map(({ sku }) => sku) }

  it('1,000 ids and SKUs are read with one statement', async () => {
    takeStatements()
    const found = await read(caller, wanted)
    // Beside begin, set_config and commit.
    expect(takeStatements()).toHaveLength(4)
    expect(idsOf(found)).toEqual(idsOf(some))
  })

  it('they are found through indexes, with a plan for these and one for any', async () => {
    for (const few of [wanted, { ids: wanted.ids.slice(0, 1), skus: [] }]) {
      const { custom, generic } = await plansOf(db, caller, [await statementOf(caller, few)])
      expect(readWhole([...custom, ...generic].flat(), ['variant', 'product'])).toEqual([])
    }
  })
})
