import type { Product } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { describe, expect, it } from 'vitest'
import { createProduct } from './create-product.ts'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'

const { admin, db } = await testDatabase('catalog')
const send = serviceClient(db, [createProduct])
const create = <Body = Product>(caller: Caller, body: unknown) => send<Body>(caller, 'POST', '/v1/products', body)

describe('slugs (OP-14)', () => {
  const slugs = async (caller: Caller) => {
    const rows = await admin`select slug from product where workspace_id = ${caller.workspaceId} order by id`
    return rows.map(({ slug }) => slug)
  }

  it('derives the slug from the name and numbers it when it is taken', async () => {
    const caller = aCaller()
    for (const name of ['iPhone', 'iPhone 15', 'iPhone', 'iPhone 15', 'iPhone']) {
      await create(caller, aSimpleProduct({ name }))
    }
    expect(await slugs(caller)).toEqual(['iphone', 'iphone-15', 'iphone-16', 'iphone-15-2', 'iphone-17'])
  })

  it('numbers the products of a name although another name ends with the highest number', async () => {
    const caller = aCaller()
    const names = ['Mug 999999999', 'Mug', 'Mug', 'Mug', 'Mug 999999998', 'Mug', 'Mug 999999999', 'Mug 999999999']
    const answers = []
    for (const name of names) answers.push((await create(caller, aSimpleProduct({ name }))).status)
    expect(answers).toEqual(names.map(() => 201))
    const after = ['mug-999999999', 'mug', 'mug-2', 'mug-3', 'mug-999999998', 'mug-4']
    expect(await slugs(caller)).toEqual([...after, 'mug-999999999-2', 'mug-999999999-3'])
  })

  it('gives each of many concurrent products of one name a slug of its own', async () => {
    const caller = aCaller()
    const answers = await Promise.all(Array.from({ length: 30 }, () => create(caller, aSimpleProduct())))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(new Set(await slugs(caller)).size).toBe(30)
  })

  it('refuses an explicit slug that is taken with conflict', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ slug: 'mug' }))
    const { status, body } = await send(caller, 'POST', '/v1/products', aSimpleProduct({ slug: 'mug' }))
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect(body.error.message).toContain('slug: "mug"')
  })

  it('names an unknown category before a slug or SKU that is taken, as an update does (spec: Create rules 3)', async () => {
    const caller = aCaller()
    const members = { sku: 'mug', slug: 'mug' }
    await create(caller, aSimpleProduct(members))
    const product = aSimpleProduct({ ...members, categories: ['nowhere'] })
    const { status, body } = await send(caller, 'POST', '/v1/products', product)
    expect([status, body.error.code]).toEqual([422, 'unprocessable'])
    expect(body.error.message).toContain('categories[0]')
  })
})

describe('SKUs (OP-15)', () => {
  it('refuses a SKU the workspace has with conflict naming the variant, and applies nothing', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ sku: 'taken' }))
    const product = aVariableProduct()
    const variants = [product.variants[0], { ...product.variants[1], sku: 'taken' }]
    const { status, body } = await send(caller, 'POST', '/v1/products', { ...product, variants })
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect(body.error.message).toContain('variants[1].sku: "taken"')
    const [count] = await admin`select count(*)::int as n from product where workspace_id = ${caller.workspaceId}`
    expect(count?.n).toBe(1)
  })

  it('lets one of many concurrent products with one SKU through, and names the SKU to the others', async () => {
    const caller = aCaller()
    const requests = Array.from({ length: 10 }, (_, index) =>
      create<Product & { error?: { message: string } }>(caller, aSimpleProduct({ name: `Mug ${index}`, sku: 'one' })),
    )
    const answers = await Promise.all(requests)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(9)
    for (const { body } of refused) expect(body.error?.message).toContain('sku: "one"')
  })

  it('keeps the SKUs of two workspaces apart', async () => {
    expect((await create(aCaller(), aSimpleProduct({ sku: 'same' }))).status).toBe(201)
    expect((await create(aCaller(), aSimpleProduct({ sku: 'same' }))).status).toBe(201)
  })
})
