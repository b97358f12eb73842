import type { BatchResult } from '@backoffice/contracts/batches.ts'
import { PRODUCT, type Product, VARIANT } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { missingMembers, sampleMembers } from '@backoffice/testing/member-places.ts'
import { expect, it } from 'vitest'
import { importsUnderTest } from '../imports/testing/applied-imports.ts'
import type { ProductSettings } from './get-product-settings.ts'
import { aVariableProduct } from './testing/product-samples.ts'

/* Every declared member is where its declaration says, whoever sends it. A new member needs no line here. */

const { admin, send, create, run, recordsOf } = await importsUnderTest()

/** What is missing of these members of a product and of its first variant. */
async function missing(caller: Caller, id: string, ofProduct: object, ofVariant: object): Promise<string[]> {
  const { body } = await send<Product>(caller, 'GET', `/v1/products/${id}`)
  const { body: settings } = await send<ProductSettings>(caller, 'GET', `/v1/products/${id}/settings`)
  const [rows] = await admin<{ product: object; variant: object }[]>`
    select to_jsonb(product) as product, to_jsonb(variant) as variant
    from product join variant on product_id = product.id where product.id = ${id} order by variant.position limit 1`
  const records = (await recordsOf(caller)).filter(({ key }) => key === id)
  const state = records.findLast(({ type }) => type === 'product.state')?.payload
  // Imports fire no events (OP-72).
  const event = records.findLast(({ type }) => type !== 'product.state')?.payload
  const variantOf = (product: { readonly variants: readonly object[] } | undefined) => product?.variants[0]
  return [
    ...missingMembers(
      PRODUCT,
      { ...ofProduct },
      { answer: body, settings, row: rows?.product, state, ...(event && { event }) },
    ),
    ...missingMembers(
      VARIANT,
      { ...ofVariant },
      {
        answer: variantOf(body),
        settings: { cost: settings.variants[0]?.cost },
        row: rows?.variant,
        state: variantOf(state),
        ...(event && { event: variantOf(event) }),
      },
    ),
  ]
}

it('a create and an update of a product set every member', async () => {
  const caller = aCaller()
  const [product, variant] = [
    sampleMembers(PRODUCT, PRODUCT.shapes.create, 0),
    sampleMembers(VARIANT, VARIANT.shapes.create, 0),
  ]
  const { id } = await create(caller, { ...product, ...variant })
  expect(await missing(caller, id, product, variant)).toEqual([])
  const [changes, ofVariant] = [
    sampleMembers(PRODUCT, PRODUCT.shapes.update, 2),
    sampleMembers(VARIANT, VARIANT.shapes.update, 2),
  ]
  expect((await send(caller, 'PUT', `/v1/products/${id}`, { ...changes, ...ofVariant })).status).toBe(200)
  expect(await missing(caller, id, changes, ofVariant)).toEqual([])
})

/** Those without a column have tests of their own: categories, tags. */
const settable = PRODUCT.inputs.filter((name) => 'sql' in PRODUCT.members[name])

it.each([...settable, ...VARIANT.inputs])('an update of %s alone sets it and nothing else', async (name) => {
  const caller = aCaller()
  const ofProduct = sampleMembers(PRODUCT, PRODUCT.shapes.create, 0)
  const ofVariant = sampleMembers(VARIANT, VARIANT.shapes.create, 0)
  const { id } = await create(caller, { ...ofProduct, ...ofVariant })
  const only = (shape: object) => Object.fromEntries(Object.entries(shape).filter(([one]) => one === name))
  const changes = sampleMembers(PRODUCT, only(PRODUCT.shapes.update), 2)
  const changesOfVariant = sampleMembers(VARIANT, only(VARIANT.shapes.update), 2)
  expect((await send(caller, 'PUT', `/v1/products/${id}`, { ...changes, ...changesOfVariant })).status).toBe(200)
  expect(await missing(caller, id, { ...ofProduct, ...changes }, { ...ofVariant, ...changesOfVariant })).toEqual([])
})

it('a variant that is added and changed has every member', async () => {
  const caller = aCaller()
  const { id, variants } = await create(caller, aVariableProduct())
  const path = `/v1/products/${id}/variants`
  const first = sampleMembers(VARIANT, VARIANT.shapes.update, 1)
  expect((await send(caller, 'PUT', `${path}/${variants[0]?.id}`, first)).status).toBe(200)
  expect(await missing(caller, id, {}, first)).toEqual([])
  const added = sampleMembers(VARIANT, VARIANT.shapes.create, 2)
  const answer = await send<object>(caller, 'POST', path, { ...added, attributes: { Size: 'XXL' } })
  expect(answer.status).toBe(201)
  const [row] = await admin<
    { row: object }[]
  >`select to_jsonb(variant) as row from variant where sku = ${String(added.sku)}`
  expect(missingMembers(VARIANT, added, { answer: answer.body, row: row?.row })).toEqual([])
})

it('rows of a batch set every member, of a new product and of a known one (OP-275)', async () => {
  const caller = aCaller()
  for (const [shape, n] of [
    ['create', 0],
    ['update', 2],
  ] as const) {
    const product = sampleMembers(PRODUCT, PRODUCT.shapes[shape], n)
    const variant = { ...sampleMembers(VARIANT, VARIANT.shapes[shape], n), sku: 'BATCH' }
    const rows = [{ ...product, ...variant }]
    const { body } = await send<{ results: BatchResult[] }>(caller, 'POST', '/v1/products/batch', { rows })
    expect(body.results).toMatchObject([{ error: null }])
    expect(await missing(caller, body.results[0]?.id ?? '', product, variant)).toEqual([])
  }
})

it('rows of imports set every column of products and variants, of new ones and of known ones', async () => {
  const caller = aCaller()
  const sku = 'IMPORTED'
  // The first and the last type: rows of a VARIABLE_PRODUCT are variants (OP-278).
  for (const n of [0, 2]) {
    const product = sampleMembers(PRODUCT, PRODUCT.shapes.imported, n)
    const variant = { ...sampleMembers(VARIANT, VARIANT.shapes.imported, n), sku }
    expect(await run(caller, 'products', [{ ...product, ...variant }])).toMatchObject([{ errors: [] }])
    const [row] =
      await admin`select product_id from variant where workspace_id = ${caller.workspaceId} and sku = ${sku}`
    expect(await missing(caller, row?.product_id, product, variant)).toEqual([])
  }
  const { id } = await create(caller, aVariableProduct())
  const { slug } = (await admin`select slug from product where id = ${id}`)[0] as { slug: string }
  for (const n of [1, 2]) {
    const variant = { ...sampleMembers(VARIANT, VARIANT.shapes.imported, n), sku: 'IMPORTED-XXL' }
    const row = { ...variant, product: slug, option1_name: 'Size', option1_value: 'XXL' }
    expect(await run(caller, 'product_variants', [row])).toMatchObject([{ errors: [] }])
    const [found] = await admin<{ row: object }[]>`
      select to_jsonb(variant) as row from variant where workspace_id = ${caller.workspaceId} and sku = 'IMPORTED-XXL'`
    expect(missingMembers(VARIANT, variant, { row: found?.row })).toEqual([])
  }
})
