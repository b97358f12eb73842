import { randomUUID } from 'node:crypto'
import { type EventRecord, RECORDS, TOPICS } from '@backoffice/contracts/events.ts'
import { Product } from '@backoffice/contracts/product.ts'
import { ProductData, ProductState } from '@backoffice/contracts/product-records.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { decodeRecord } from '../consumers/received-records.ts'
import { registerSchemas } from './register-schemas.ts'
import { recordSerializer, Unserialisable } from './schema-registry.ts'

/** A later release's answer, which always has a member that this release does not know, also in each variant. */
const LaterVariant = Product.shape.variants.element.extend({ weight: z.int().nullable() })
const LaterProduct = Product.extend({ barcode: z.string().nullable(), variants: z.array(LaterVariant) })

/** The later release's record shapes: the members are optional. */
const LaterProductData = ProductData.extend({
  barcode: LaterProduct.shape.barcode.optional(),
  variants: z.array(LaterVariant.partial({ weight: true })),
})
const LaterState = ProductState.extend({
  barcode: LaterProduct.shape.barcode.optional(),
  variants: z.array(ProductState.shape.variants.element.extend({ weight: LaterVariant.shape.weight.optional() })),
})

/** The later release's `productOf`. */
const laterProductOf = (data: z.output<typeof LaterProductData>): z.output<typeof LaterProduct> => ({
  ...data,
  barcode: data.barcode ?? null,
  variants: data.variants.map((variant) => ({ ...variant, weight: variant.weight ?? null })),
})

const id = '0198c7a0-0000-7000-8000-000000000001'
const at = '2026-03-01T10:00:00.000Z'
const variant = { id, sku: 'CAP-M', stock: 3, price: { NGN: 450_000 }, attributes: {} }
const product = {
  id,
  name: 'Cap',
  status: 'ACTIVE',
  type: 'SIMPLE_PRODUCT',
  description: null,
  category: null,
  categories: [],
  requires_shipping: true,
  can_preorder: false,
  total_stock: 3,
  price_range: { min: { NGN: 450_000 }, max: { NGN: 450_000 } },
  options: [],
  media: [],
  variants: [variant],
  created_at: at,
  updated_at: at,
}
const laterProduct = { ...product, barcode: '4006381333931', variants: [{ ...variant, weight: 120 }] }
const withCost = <Variant extends object>(variants: readonly Variant[]) =>
  variants.map((variant) => ({ ...variant, cost: { NGN: 200_000 } }))
const stateOf = <Variant extends object>(body: { readonly variants: readonly Variant[] }) => ({
  ...body,
  variants: withCost(body.variants),
  slug: 'cap',
  tags: [],
  version: 1,
})

const recordOf = (type: string, data: unknown): EventRecord => ({
  id,
  type,
  workspace_id: id,
  livemode: true,
  occurred_at: at,
  data,
})

const updated = RECORDS[TOPICS.catalogEvents]['product.updated']
const state = RECORDS[TOPICS.catalogProducts]['product.state']

describe.each([
  ['product.updated', updated, LaterProductData, product, laterProduct],
  ['product.state', state, LaterState, stateOf(product), stateOf(laterProduct)],
] as const)('%s, when a later release adds members', (type, record, LaterData, data, laterData) => {
  /** A topic of its own, with the schema of this release; `later` registers the next one's. */
  async function aTopic() {
    const topic = `test-${randomUUID()}`
    const register = (shape: z.ZodType) =>
      registerSchemas(backingServices().registryUrl, { [topic]: { [type]: shape } })
    await register(record)
    const serialize = recordSerializer(backingServices().registryUrl)
    return { topic, register, later: () => register(record.extend({ data: LaterData })), serialize }
  }

  test('the registry takes them as optional members, and refuses them as required ones', async () => {
    const { later, register } = await aTopic()
    const refused = register(record.extend({ data: LaterData.safeExtend({ barcode: LaterProduct.shape.barcode }) }))
    await expect(refused).rejects.toThrow('OBJECT_TYPE_REQUIRED_PROPERTIES_MEMBER_ADDED')
    await expect(later()).resolves.toBeUndefined()
  })

  test('an old replica’s record and a new one’s fit the later schema', async () => {
    const { topic, later, serialize } = await aTopic()
    await later()
    for (const value of [recordOf(type, data), recordOf(type, laterData)]) {
      expect(decodeRecord(await serialize(topic, value))).toEqual(value)
    }
  })

  test('an old replica that leads the relay sends a new replica’s record', async () => {
    const { topic, later, serialize } = await aTopic()
    await serialize(topic, recordOf(type, data))
    await expect(serialize(topic, recordOf(type, laterData))).rejects.toThrow(Unserialisable)
    await later()
    const value = recordOf(type, laterData)
    await expect.poll(() => serialize(topic, value).then(decodeRecord)).toEqual(value)
  })
})

test('an answer has the added members whichever release published the record', () => {
  const answers = [product, laterProduct].map((data) => laterProductOf(LaterProductData.parse(data)))
  expect(answers[0]).toMatchObject({ barcode: null, variants: [{ weight: null }] })
  expect(answers[1]).toEqual(laterProduct)
  for (const answer of answers) expect(LaterProduct.parse(answer)).toEqual(answer)
})
