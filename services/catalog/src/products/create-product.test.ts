import { randomUUID } from 'node:crypto'
import type { Product } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { describe, expect, it } from 'vitest'
import { createProduct } from './create-product.ts'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'

const { admin, db, takeStatements } = await testDatabase('catalog')
const NOW = new Date('2026-03-01T10:00:00.000Z')
const send = serviceClient(db, [createProduct], () => NOW)
const create = <Body = Product>(caller: Caller, body: unknown, headers = {}) =>
  send<Body>(caller, 'POST', '/v1/products', body, headers)

describe('Create rule 1: SIMPLE and VIRTUAL have one default variant', () => {
  it('answers 201 with exactly the product body', async () => {
    const product = aSimpleProduct({ description: 'Holds coffee' })
    const { status, body } = await create(aCaller(), product)
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Mug',
      status: 'ACTIVE',
      type: 'SIMPLE_PRODUCT',
      description: 'Holds coffee',
      category: null,
      categories: [],
      requires_shipping: true,
      can_preorder: false,
      total_stock: 4,
      price_range: { min: { NGN: 450_000 }, max: { NGN: 450_000 } },
      options: [],
      media: [],
      variants: [{ id: expect.any(String), sku: product.sku, stock: 4, price: { NGN: 450_000 }, attributes: {} }],
      created_at: NOW.toISOString(),
      updated_at: NOW.toISOString(),
    })
  })

  it.each([[[]], [null]])('takes options, variants and other lists of %j for none sent (OP-244)', async (none) => {
    const lists = { options: none, variants: none, categories: none, tags: none, medias: none }
    const { status, body } = await create(aCaller(), aSimpleProduct(lists))
    expect([status, body.options, body.variants.length]).toEqual([201, [], 1])
  })

  it('ships a SIMPLE product and not a VIRTUAL one unless told otherwise (OP-13)', async () => {
    const caller = aCaller()
    const virtual = aSimpleProduct({ type: 'VIRTUAL_PRODUCT' })
    expect((await create(caller, virtual)).body.requires_shipping).toBe(false)
    const shipped = aSimpleProduct({ type: 'VIRTUAL_PRODUCT', requires_shipping: true })
    expect((await create(caller, shipped)).body.requires_shipping).toBe(true)
  })

  it('keeps cost, slug, tags and the other members a body does not show', async () => {
    const caller = aCaller()
    const { body } = await create(
      caller,
      aSimpleProduct({
        slug: 'the-mug',
        tags: ['New in', 'new  IN', 'Gift'],
        can_preorder: true,
        preorder_stops_at: '2026-04-01T02:00:00+02:00',
        max_cart_quantity: 3,
        low_stock_threshold: 2,
        purchase_note: 'Wash first',
        tax_class: '7d1c2c1e-57bb-4f0e-9d5c-6a8a6f9d2b11',
      }),
    )
    const [row] = await admin`select * from product where id = ${body.id}`
    expect(row).toMatchObject({
      slug: 'the-mug',
      can_preorder: true,
      preorder_stops_at: new Date('2026-04-01T00:00:00Z'),
      max_cart_quantity: '3',
      low_stock_threshold: '2',
      purchase_note: 'Wash first',
      tax_class: '7d1c2c1e-57bb-4f0e-9d5c-6a8a6f9d2b11',
    })
    const tags = await admin`
      select slug from product_tag join tag on tag.id = tag_id where product_id = ${body.id} order by product_tag.position`
    expect(tags.map(({ slug }) => slug)).toEqual(['new-in', 'gift'])
    const [variant] = await admin`select cost from variant where product_id = ${body.id}`
    expect(variant?.cost).toEqual({ NGN: 300_000 })
  })
})

describe('Create rule 2: VARIABLE resolves options by name and takes explicit variants', () => {
  it('answers with resolved options, attributes by option id, the stock total and the price range', async () => {
    const { status, body } = await create(aCaller(), aVariableProduct())
    const size = body.options[0]
    expect(status).toBe(201)
    expect(body.options).toEqual([{ id: expect.any(String), name: 'Size', values: ['S', 'M'] }])
    expect(body.variants.map(({ attributes }) => attributes)).toEqual([
      { [size?.id ?? '']: 'S' },
      { [size?.id ?? '']: 'M' },
    ])
    expect(body.total_stock).toBe(3)
    expect(body.price_range).toEqual({ min: { NGN: 500, USD: 2 }, max: { NGN: 700, USD: 2 } })
  })

  it('uses the workspace option of that name again and extends its values', async () => {
    const caller = aCaller()
    const first = await create(caller, aVariableProduct())
    const second = await create(
      caller,
      aVariableProduct({
        options: [{ name: 'Size', values: ['M', 'XL'] }],
        variants: [
          { sku: 'a', attributes: { Size: 'M' }, stock: 0 },
          { sku: 'b', attributes: { Size: 'XL' }, stock: 0 },
        ],
      }),
    )
    expect(second.body.options).toEqual([{ id: first.body.options[0]?.id, name: 'Size', values: ['M', 'XL'] }])
    const values = await admin`select value from option_value where workspace_id = ${caller.workspaceId}`
    expect(values.map(({ value }) => value).sort()).toEqual(['M', 'S', 'XL'])
  })

  it('lets requests that make the same new options at the same time all succeed, 50 times over', async () => {
    for (let round = 0; round < 50; round++) {
      const caller = aCaller()
      const requests = Array.from({ length: 6 }, (_, index) =>
        create(
          caller,
          aVariableProduct({
            options: [
              { name: 'Colour', values: [`c${index}`, 'black'] },
              { name: 'Size', values: ['S', `s${index}`] },
            ].toSorted(() => (index % 2 ? 1 : -1)),
            variants: [{ sku: `sku-${index}`, attributes: { Colour: 'black', Size: `s${index}` }, stock: 1 }],
          }),
        ),
      )
      const answers = await Promise.all(requests)
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
      const options = await admin`select name from option where workspace_id = ${caller.workspaceId} order by name`
      expect(options.map(({ name }) => name)).toEqual(['Colour', 'Size'])
      const [count] =
        await admin`select count(*)::int as n from option_value where workspace_id = ${caller.workspaceId}`
      expect(count?.n).toBe(14)
    }
  })
})

describe('Create rule 3: categories', () => {
  it('makes a legacy category by name when it is missing, and uses it again by name, id and slug', async () => {
    const caller = aCaller()
    const first = await create(caller, aSimpleProduct({ category: { name: 'Cups & More' } }))
    const [category] = first.body.categories
    expect(first.body.category).toBe('Cups & More')
    expect(category).toEqual({
      id: expect.any(String),
      name: 'Cups & More',
      slug: 'cups-more',
      parent: null,
      parent_slug: null,
    })
    for (const members of [
      { category: { name: 'Cups & More' } },
      { category: { id: category?.id, name: null } },
      { category: { id: null, name: 'Cups & More' } },
      { categories: ['cups-more'] },
      { categories: [category?.id] },
      { categories: [category?.id?.toUpperCase(), 'cups-more'] },
    ]) {
      expect((await create(caller, aSimpleProduct(members))).body.categories).toEqual([category])
    }
  })

  it('lets categories win over category, keeping the order sent', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ category: { name: 'One' } }))
    await create(caller, aSimpleProduct({ category: { name: 'Two' } }))
    const { body } = await create(caller, aSimpleProduct({ category: { name: 'Three' }, categories: ['two', 'one'] }))
    expect(body.categories.map(({ slug }) => slug)).toEqual(['two', 'one'])
    expect(body.category).toBe('Two')
    const [three] = await admin`select from category where workspace_id = ${caller.workspaceId} and slug = 'three'`
    expect(three).toBeUndefined()
    for (const category of [body.category, {}, { id: 'zz' }, 7]) {
      const answer = await create(caller, aSimpleProduct({ category, categories: ['one'] }))
      expect(answer).toMatchObject({ status: 201, body: { category: 'One' } })
    }
  })

  it('refuses an unknown category with 422 unprocessable and applies nothing', async () => {
    const caller = aCaller()
    const other = await create(aCaller(), aSimpleProduct({ category: { name: 'Foreign' } }))
    for (const [members, path] of [
      [{ categories: ['nowhere'] }, 'categories[0]'],
      [{ categories: [other.body.categories[0]?.id] }, 'categories[0]'],
      [{ category: { id: randomUUID() } }, 'category.id'],
    ] as const) {
      const { status, body } = await send(
        caller,
        'POST',
        '/v1/products',
        aVariableProduct({ tags: ['fresh'], ...members }),
      )
      expect([status, body.error.code]).toEqual([422, 'unprocessable'])
      expect(body.error.message).toMatch(`${path}: this workspace has no category`)
    }
    for (const table of ['product', 'variant', 'option', 'tag', 'outbox']) {
      const rows = await admin`select from ${admin(table)} where workspace_id = ${caller.workspaceId}`
      expect([table, rows.length]).toEqual([table, 0])
    }
  })
})

describe('Create rule 4: status and type are values the workspace supports', () => {
  it('takes the three statuses, and refuses one the workspace has switched off (OP-13)', async () => {
    const caller = aCaller({ productStatuses: ['ACTIVE', 'HIDDEN'] })
    expect((await create(caller, aSimpleProduct({ status: 'HIDDEN' }))).body.status).toBe('HIDDEN')
    const { status, body } = await send(caller, 'POST', '/v1/products', aSimpleProduct({ status: 'ARCHIVED' }))
    expect([status, body.error.code]).toEqual([422, 'unprocessable'])
    expect(body.error.message).toContain('ACTIVE, HIDDEN')
  })
})

it('takes no media items to remove, and refuses one, since a new product has none (OP-13)', async () => {
  for (const removals of [null, []]) {
    const { status } = await send(aCaller(), 'POST', '/v1/products', aSimpleProduct({ remove_medias: removals }))
    expect(status).toBe(201)
  }
  const id = randomUUID()
  const { status, body } = await send(aCaller(), 'POST', '/v1/products', aSimpleProduct({ remove_medias: [id] }))
  expect([status, body.error.message]).toEqual([422, `remove_medias[0]: the product has no media item ${id}`])
})

describe('events', () => {
  it('answers a repeated request by its first answer, also once the workspace has switched the status off (OP-08)', async () => {
    const caller = aCaller()
    const [product, key] = [aSimpleProduct({ status: 'ACTIVE' }), { 'idempotency-key': 'key-1' }]
    const first = await send(caller, 'POST', '/v1/products', product, key)
    const again = await send({ ...caller, productStatuses: ['HIDDEN'] }, 'POST', '/v1/products', product, key)
    expect([again.status, again.body, again.headers['idempotent-replayed']]).toEqual([201, first.body, 'true'])
  })

  it('commits product.created with the response body and the state for projections, in order', async () => {
    const caller = aCaller({ livemode: false })
    const { body } = await create(caller, aSimpleProduct({ category: { name: 'Cups' }, tags: ['New'] }))
    const records = await admin`
      select topic, type, key, livemode, payload, occurred_at from outbox
      where workspace_id = ${caller.workspaceId} order by id`
    expect(records.map(({ topic, type }) => `${topic} ${type}`)).toEqual([
      'catalog.events category.created',
      'catalog.events tag.created',
      'catalog.events product.created',
      'catalog.products product.state',
    ])
    expect(records[2]).toMatchObject({ key: body.id, livemode: false, payload: body, occurred_at: NOW })
    expect(records[3]?.payload).toMatchObject({ id: body.id, slug: 'mug', version: 1, tags: [{ slug: 'new' }] })
    expect(records[3]?.payload.variants[0].cost).toEqual({ NGN: 300_000 })
  })
})

describe('cost', () => {
  const productOf = (variants: number) => {
    const values = Array.from({ length: variants }, (_, index) => `v${index}`)
    return aVariableProduct({
      options: [{ name: `Kind ${variants}`, values }],
      variants: values.map((value) => ({ sku: randomUUID(), attributes: { [`Kind ${variants}`]: value }, stock: 1 })),
      category: { name: `Category ${variants}` },
      tags: [`Tag ${variants}`],
    })
  }

  it.each([1, 100])('sends at most 10 statements for %i variants, everything it refers to new', async (variants) => {
    takeStatements()
    const { status } = await create(aCaller(), productOf(variants), { 'idempotency-key': 'k' })
    expect(status).toBe(201)
    expect(takeStatements().length).toBeLessThanOrEqual(10)
  })

  it('takes 2,048 variants (OP-07)', async () => {
    const { status, body } = await create(aCaller(), productOf(2048))
    expect(status).toBe(201)
    expect(body.variants).toHaveLength(2048)
  })
})
