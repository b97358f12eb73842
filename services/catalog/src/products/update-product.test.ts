import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'
import { productApi } from './testing/products-api.ts'

const { admin, clock, send, takeStatements, create, read, update, refuse, rowOf, tagsOf, anAsset } = await productApi()

describe('OP-266: conditional changes', () => {
  it('its answer has the tag that GET answers, however the currencies were sent', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct())
    const { headers } = await update(caller, id, { price: { USD: 100, EUR: 90 }, cost: { USD: 40, EUR: 30 } })
    expect(headers.etag).toBe((await send(caller, 'GET', `/v1/products/${id}`)).headers.etag)
  })

  it('of changes with one tag one is made, also of a member that no answer shows, within a millisecond', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct())
    const { headers } = await send(caller, 'GET', `/v1/products/${id}`)
    const put = async (cost: number) => {
      const condition = { 'if-match': String(headers.etag) }
      return (await send(caller, 'PUT', `/v1/products/${id}`, { cost: { EUR: cost } }, condition)).status
    }
    expect([await put(1), await put(2)]).toEqual([200, 412])
  })
})

describe('Update rule 1: fields, media, tags, slug and the single default variant are updated', () => {
  it('updates every field that is sent and answers the whole body', async () => {
    const caller = aCaller()
    const before = await create(caller, aSimpleProduct())
    const sent = {
      name: 'Cup',
      status: 'HIDDEN',
      description: 'Holds tea',
      requires_shipping: false,
      can_preorder: true,
      preorder_stops_at: '2026-05-01T00:00:00+01:00',
      max_cart_quantity: 5,
      low_stock_threshold: 1,
      tax_class: '7d1c2c1e-57bb-4f0e-9d5c-6a8a6f9d2b11',
      purchase_note: 'Rinse',
    }
    clock.now = new Date('2026-03-02T10:00:00.000Z')
    const { status, body } = await update(caller, before.id, sent)
    expect(status).toBe(200)
    const { name, status: state, description, requires_shipping, can_preorder } = sent
    expect(body).toEqual({
      ...before,
      ...{ name, status: state, description, requires_shipping, can_preorder, updated_at: clock.now.toISOString() },
    })
    expect(await read(caller, before.id)).toEqual(body)
    expect(await rowOf(before.id)).toMatchObject({
      preorder_stops_at: new Date('2026-04-30T23:00:00Z'),
      max_cart_quantity: '5',
      low_stock_threshold: '1',
      tax_class: sent.tax_class,
      purchase_note: 'Rinse',
      slug: 'mug',
    })
  })

  it('updates the default variant and keeps its id', async () => {
    const caller = aCaller()
    const before = await create(caller, aSimpleProduct())
    const members = { sku: randomUUID(), price: { USD: 100, EUR: 90 }, cost: { USD: 40 }, stock: 9 }
    const { body } = await update(caller, before.id, members)
    expect(body.variants).toEqual([
      { id: before.variants[0]?.id, sku: members.sku, stock: 9, price: members.price, attributes: {} },
    ])
    expect(body.total_stock).toBe(9)
    expect(body.price_range).toEqual({ min: members.price, max: members.price })
    const [variant] = await admin`select cost from variant where product_id = ${before.id}`
    expect(variant?.cost).toEqual({ USD: 40 })
    const movements = await admin`
      select delta, reason, actor from stock_movement where product_id = ${before.id} order by id`
    expect(movements.map((row) => row)).toEqual([
      { delta: '4', reason: 'created', actor: 'key' },
      { delta: '5', reason: 'set', actor: 'key' },
    ])
  })

  it('leaves what is not sent untouched, hidden members included', async () => {
    const caller = aCaller()
    const before = await create(
      caller,
      aSimpleProduct({ tags: ['New'], category: { name: 'Cups' }, purchase_note: 'Rinse', max_cart_quantity: 2 }),
    )
    const row = await rowOf(before.id)
    const { body } = await update(caller, before.id, { stock: 5 })
    expect(body).toMatchObject({ categories: before.categories, description: before.description })
    expect(body.variants[0]).toEqual({ ...before.variants[0], stock: 5 })
    expect(await rowOf(before.id)).toEqual({ ...row, version: '2', updated_at: new Date(body.updated_at) })
    expect(await tagsOf(before.id)).toEqual(['new'])
  })

  it.each([
    'description',
    'preorder_stops_at',
    'max_cart_quantity',
    'low_stock_threshold',
    'tax_class',
    'purchase_note',
  ])('unsets %s with null (OP-09)', async (member) => {
    const caller = aCaller()
    const members = {
      description: 'd',
      preorder_stops_at: '2026-05-01T00:00:00Z',
      max_cart_quantity: 2,
      low_stock_threshold: 2,
      tax_class: randomUUID(),
      purchase_note: 'n',
    }
    const { id } = await create(caller, aSimpleProduct(members))
    expect((await update(caller, id, { [member]: null })).status).toBe(200)
    expect((await rowOf(id))?.[member]).toBeNull()
  })

  it('empties price and cost with null, and replaces them whole (OP-79)', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct({ price: { NGN: 1, USD: 2 } }))
    expect((await update(caller, id, { price: { USD: 3 } })).body.variants[0]?.price).toEqual({ USD: 3 })
    expect((await update(caller, id, { price: null, cost: null })).body.price_range).toEqual({ min: {}, max: {} })
  })

  it.each(['sku', 'price', 'cost', 'stock'] as const)(
    'refuses %s on a VARIABLE product and says where it belongs',
    async (member) => {
      const caller = aCaller()
      const before = await create(caller, aVariableProduct())
      const value = { sku: 'x', price: { USD: 1 }, cost: { USD: 1 }, stock: 3 }[member]
      const [status, code, message] = await refuse(caller, before.id, { name: 'Other', [member]: value })
      expect([status, code]).toEqual([422, 'unprocessable'])
      expect(message).toMatch(new RegExp(`^${member}: .*/v1/products/${before.id}/variants`))
      expect(await read(caller, before.id)).toEqual(before)
    },
  )

  it('refuses a status the workspace has switched off (OP-13)', async () => {
    const caller = aCaller({ productStatuses: ['ACTIVE', 'HIDDEN'] })
    const { id } = await create(caller, aSimpleProduct())
    const [status, code, message] = await refuse(caller, id, { status: 'ARCHIVED' })
    expect([status, code]).toEqual([422, 'unprocessable'])
    expect(message).toBe('status: this workspace does not use ARCHIVED; send one that it uses: ACTIVE, HIDDEN')
  })

  it('takes the status that the product has, also once the workspace has switched it off (OP-13)', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct())
    const without = { ...caller, productStatuses: ['HIDDEN' as const] }
    const { status, body } = await update(without, id, { status: 'ACTIVE', name: 'Cup' })
    expect([status, body]).toMatchObject([200, { status: 'ACTIVE', name: 'Cup' }])
    expect((await update(without, id, { status: 'HIDDEN' })).status).toBe(200)
    expect((await refuse(without, id, { status: 'ACTIVE' }))[0]).toBe(422)
  })

  it('refuses a SKU another product has with conflict, and applies nothing', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ sku: 'taken' }))
    const before = await create(caller, aSimpleProduct())
    const [status, code, message] = await refuse(caller, before.id, { name: 'Other', sku: 'taken', tags: ['fresh'] })
    expect([status, code]).toEqual([409, 'conflict'])
    expect(message).toMatch('sku: "taken" belongs to another product')
    expect(await read(caller, before.id)).toEqual(before)
    expect(await tagsOf(before.id)).toEqual([])
  })
})

describe('Update rule 3: the slug', () => {
  it('changes only when supplied, whatever the name becomes', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct())
    await update(caller, id, { name: 'Something else' })
    expect((await rowOf(id))?.slug).toBe('mug')
    await update(caller, id, { slug: 'the-mug' })
    expect((await rowOf(id))?.slug).toBe('the-mug')
  })

  it('is refused with conflict when another product has it (OP-14)', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ slug: 'taken' }))
    const { id } = await create(caller, aSimpleProduct())
    const [status, code, message] = await refuse(caller, id, { slug: 'taken' })
    expect([status, code]).toEqual([409, 'conflict'])
    expect(message).toMatch('slug: "taken" belongs to another product')
  })
})

describe('Update rule 7: variants of a variable product are not managed here', () => {
  it.each(['variants', 'options'])('refuses %s as an unknown member', async (member) => {
    const caller = aCaller()
    const before = await create(caller, aVariableProduct())
    const [status, code, message] = await refuse(caller, before.id, { [member]: [] })
    expect([status, code, message]).toEqual([400, 'bad_request', `${member}: unknown member`])
  })

  it('leaves the variants as they are', async () => {
    const caller = aCaller()
    const before = await create(caller, aVariableProduct())
    const { body } = await update(caller, before.id, { name: 'Blouse' })
    expect(body).toEqual({ ...before, name: 'Blouse', updated_at: body.updated_at })
  })
})

describe('walls and cost', () => {
  it('does not find another workspace’s product, nor one that is not there', async () => {
    const before = await create(aCaller(), aSimpleProduct())
    for (const id of [before.id, randomUUID()]) {
      const [status, code, message] = await refuse(aCaller(), id, { name: 'Mine' })
      expect([status, code, message]).toEqual([404, 'not_found', `id: this workspace has no product ${id}`])
    }
    expect((await rowOf(before.id))?.name).toBe('Mug')
  })

  it('needs the scope product::update', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct())
    const [status, code] = await refuse({ ...caller, scopes: ['product::create', 'product::read'] }, id, {})
    expect([status, code]).toEqual([403, 'insufficient_scope'])
  })

  it('sends at most 12 statements, whatever is new and whatever the number of variants', async () => {
    const caller = aCaller()
    const values = Array.from({ length: 300 }, (_, index) => `v${index}`)
    const { id } = await create(
      caller,
      aVariableProduct({
        options: [{ name: 'Kind', values }],
        variants: values.map((value) => ({ sku: randomUUID(), attributes: { Kind: value }, stock: 1 })),
      }),
    )
    const medias = [{ asset: await anAsset(caller) }]
    takeStatements()
    const members = { type: 'SIMPLE_PRODUCT', sku: 'only', stock: 3, slug: 'new-slug', name: 'New' }
    const { status } = await update(caller, id, { ...members, medias, tags: ['a', 'b'], category: { name: 'Fresh' } })
    expect(status).toBe(200)
    expect(takeStatements().length).toBeLessThanOrEqual(12)
  })
})
