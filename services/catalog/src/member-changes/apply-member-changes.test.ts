import type { Category, Product, Tag } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { catalog } from '../categories/testing/categories-api.ts'
import { importsUnderTest } from '../imports/testing/applied-imports.ts'
import { aSimpleProduct } from '../products/testing/product-samples.ts'
import { applyMemberChange } from './apply-member-changes.ts'

const { admin, contextOf, db, newCategory, product, put, refresh, send, state } = await catalog()

/** What one transaction changes at most. */
const BATCH_SIZE = 1000
const MANY = 1100

/** A workspace with many products in one category and with one tag, and another category. */
async function aLargeShop(count = MANY) {
  const caller = aCaller()
  const cups = await newCategory(caller, { name: 'Cups' })
  const mugs = await newCategory(caller, { name: 'Mugs' })
  await insertMembers(caller, count, cups.id)
  const products = await admin<{ id: string }[]>`
    select id from product where workspace_id = ${caller.workspaceId} order by id`
  return { caller, cups, mugs, first: products[0]?.id ?? '', last: products.at(-1)?.id ?? '' }
}

const insertMembers = ({ workspaceId }: Caller, count: number, category: string, sql = admin) => sql`
  with new_product as (
    insert into product (
      workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at
    )
    select ${workspaceId}, uuidv7(), 'Cup', concat('cup-of-', n), 'SIMPLE_PRODUCT', 'ACTIVE', true, false, now(), now()
    from generate_series(1, ${count}::int) as n
    returning id
  ), new_tag as (
    insert into tag (workspace_id, id, name, slug)
    values (${workspaceId}, uuidv7(), 'New in', 'new-in') returning id
  ), new_link as (
    insert into product_category (workspace_id, product_id, category_id, position)
    select ${workspaceId}, id, ${category}, 1 from new_product
  )
  insert into product_tag (workspace_id, product_id, tag_id, position)
  select ${workspaceId}, new_product.id, new_tag.id, 1 from new_product, new_tag`

const requests = async ({ workspaceId }: Caller, sql = admin) =>
  (await sql`select from product_refresh where workspace_id = ${workspaceId}`).length
const membersOf = async (links: 'product_category' | 'product_tag', column: string, id: string) =>
  (await admin`select from ${admin(links)} where ${admin(column)} = ${id}`).length
const step = (caller: Caller) => db.inWorkspace(contextOf(caller), applyMemberChange)
/** Makes all waiting changes, and publishes nothing. */
async function applyAll(caller: Caller) {
  while (await step(caller)) await admin`delete from product_refresh where workspace_id = ${caller.workspaceId}`
}
const tagsOf = async (caller: Caller) => (await send<{ items: Tag[] }>(caller, 'GET', '/v1/tags')).body.items
const slugsOf = async (caller: Caller) =>
  (await send<{ items: Category[] }>(caller, 'GET', '/v1/categories')).body.items.map(({ slug }) => slug)
/** The number of products that a filter finds. */
const found = async (caller: Caller, filter: string, value = '') =>
  (await send<{ total: number }>(caller, 'GET', `/v1/products?${filter}=${encodeURIComponent(value)}`)).body.total
const remove = (caller: Caller, path: string) =>
  send<undefined | { error: { code: string; message: string } }>(caller, 'DELETE', path)

describe('a category or tag with many products changes at most a thousand of them in one transaction', () => {
  it('when the category is renamed', async () => {
    const { caller, cups } = await aLargeShop(2 * BATCH_SIZE + 500)
    await put(caller, cups.id, { name: 'Beakers' })
    const made = [await requests(caller)]
    for (let chunk = 0; chunk < 3; chunk++) {
      await admin`delete from product_refresh where workspace_id = ${caller.workspaceId}`
      expect(await step(caller)).toBe(true)
      made.push(await requests(caller))
    }
    expect(made).toEqual([0, BATCH_SIZE, BATCH_SIZE, 500])
    expect(await step(caller)).toBe(false)
  })

  it('when an import renames it', async () => {
    const imports = await importsUnderTest()
    const caller = aCaller()
    await imports.run(caller, 'categories', [{ slug: 'cups', name: 'Cups' }])
    const [cups] = await imports.admin<{ id: string }[]>`
      select id from category where workspace_id = ${caller.workspaceId}`
    await insertMembers(caller, MANY, cups?.id ?? '', imports.admin)
    await imports.run(caller, 'categories', [{ slug: 'cups', name: 'Beakers' }])
    expect(await requests(caller, imports.admin)).toBe(0)
    await imports.applyMemberChanges(caller)
    expect(await requests(caller, imports.admin)).toBeLessThanOrEqual(2 * BATCH_SIZE)
  })

  it('when it is deleted and its products move', async () => {
    const { caller, cups, mugs, first, last } = await aLargeShop()
    expect((await remove(caller, `/v1/categories/${cups.id}?reassign_to=${mugs.id}`)).status).toBe(204)
    expect(await membersOf('product_category', 'category_id', mugs.id)).toBe(BATCH_SIZE)
    await refresh(caller)
    expect(await membersOf('product_category', 'category_id', mugs.id)).toBe(MANY)
    expect(await admin`select from category where id = ${cups.id}`).toHaveLength(0)
    const updated = await admin<{ key: string }[]>`
      select key from outbox where workspace_id = ${caller.workspaceId} and type = 'product.updated' order by key`
    expect([updated.length, updated[0]?.key, updated.at(-1)?.key]).toEqual([MANY, first, last])
  })

  it('when the tag is deleted', async () => {
    const { caller } = await aLargeShop()
    const [tag] = await tagsOf(caller)
    expect((await remove(caller, `/v1/tags/${tag?.id}`)).status).toBe(204)
    expect(await membersOf('product_tag', 'tag_id', tag?.id ?? '')).toBe(MANY - BATCH_SIZE)
    await applyAll(caller)
    expect(await membersOf('product_tag', 'tag_id', tag?.id ?? '')).toBe(0)
    expect(await admin`select from tag where id = ${tag?.id ?? ''}`).toHaveLength(0)
  })
})

it('many renamed categories with few products are handled in one transaction', async () => {
  const caller = aCaller()
  const categories = []
  for (let n = 0; n < 10; n++) categories.push(await newCategory(caller, { name: `Cups ${n}` }))
  const slugs = categories.map(({ slug }) => slug)
  await send(caller, 'POST', '/v1/products', aSimpleProduct({ categories: slugs }))
  for (const { id } of categories) await put(caller, id, { name: 'Mugs' })
  expect(await step(caller)).toBe(true)
  expect(await step(caller)).toBe(false)
  expect(await requests(caller)).toBe(10)
})

it('a workspace has at most two thousand refresh requests of its renamed categories', async () => {
  const { caller, cups } = await aLargeShop()
  for (const name of ['A', 'B', 'C']) {
    await put(caller, cups.id, { name })
    while (await step(caller));
  }
  expect(await requests(caller)).toBeLessThanOrEqual(2 * BATCH_SIZE)
})

it('a category that is renamed while its products are being refreshed has all of them published with the last name', async () => {
  const { caller, cups, first } = await aLargeShop()
  await put(caller, cups.id, { name: 'Beakers' })
  await step(caller)
  await refresh(caller)
  await put(caller, cups.id, { name: 'Glasses' })
  await refresh(caller)
  expect((await state(first)).category).toBe('Glasses')
  const [{ count } = { count: 0 }] = await admin<{ count: number }[]>`
    select count(*)::int from (
      select distinct on (key) payload from outbox
      where workspace_id = ${caller.workspaceId} and type = 'product.state' order by key, id desc
    ) as newest where payload ->> 'category' = 'Glasses'`
  expect(count).toBe(MANY)
})

describe('until its last product has moved, a deleted category', () => {
  it('is in no list, cannot be named, and leaves its slug to another; its products show it', async () => {
    const { caller, cups, mugs, last } = await aLargeShop()
    await remove(caller, `/v1/categories/${cups.id}?reassign_to=${mugs.id}`)
    expect(await slugsOf(caller)).toEqual(['mugs'])
    for (const name of [cups.id, 'cups', `deleted ${cups.id}`]) expect(await found(caller, 'category', name)).toBe(0)
    expect((await product(caller, last)).categories).toMatchObject([{ id: cups.id, slug: 'cups' }])
    const create = (members: object) => send<Product>(caller, 'POST', '/v1/products', aSimpleProduct({ ...members }))
    const statuses = [
      (await create({ categories: [cups.id] })).status,
      (await create({ categories: ['cups'] })).status,
      (await send(caller, 'POST', '/v1/categories', { name: 'Below', parent: cups.id })).status,
      (await put(caller, mugs.id, { parent: cups.id })).status,
      (await put(caller, cups.id, { name: 'Again' })).status,
      (await remove(caller, `/v1/categories/${cups.id}`)).status,
      (await remove(caller, `/v1/categories/${mugs.id}?reassign_to=${cups.id}`)).status,
    ]
    expect(statuses).toEqual([422, 422, 422, 422, 404, 404, 422])
    const again = await newCategory(caller, { name: 'Cups' })
    expect(again.slug).toBe('cups')
    await applyAll(caller)
    expect((await product(caller, last)).categories).toMatchObject([{ id: mugs.id }])
    expect(await membersOf('product_category', 'category_id', again.id)).toBe(0)
  })

  it('keeps its target from being deleted', async () => {
    const { caller, cups, mugs } = await aLargeShop()
    await remove(caller, `/v1/categories/${cups.id}?reassign_to=${mugs.id}`)
    const other = await newCategory(caller, { name: 'Other' })
    const { status, body } = await remove(caller, `/v1/categories/${mugs.id}?reassign_to=${other.id}`)
    expect([status, body?.error.code]).toEqual([409, 'conflict'])
    await applyAll(caller)
    expect((await remove(caller, `/v1/categories/${mugs.id}?reassign_to=${other.id}`)).status).toBe(204)
  })

  it('leaves locked products for later, and moves the others', async () => {
    const { caller, cups, mugs } = await aLargeShop()
    await remove(caller, `/v1/categories/${cups.id}?reassign_to=${mugs.id}`)
    await admin.begin(async (tx) => {
      const held = await tx<{ product_id: string }[]>`
        select product_id from product_category where category_id = ${cups.id} order by product_id limit 5`
      await tx`
        select from product where id in ${tx(held.map(({ product_id }) => product_id))} order by id for no key update`
      await applyAll(caller)
      expect(await membersOf('product_category', 'category_id', cups.id)).toBe(5)
      expect(await step(caller)).toBe(false)
    })
    await applyAll(caller)
    expect(await membersOf('product_category', 'category_id', mugs.id)).toBe(MANY)
  })
})

it('a tag that is deleted can be made again at once, and its former products lose the deleted one only', async () => {
  const { caller, first } = await aLargeShop()
  const [deleted] = await tagsOf(caller)
  await remove(caller, `/v1/tags/${deleted?.id}`)
  expect(await tagsOf(caller)).toEqual([])
  for (const name of [deleted?.id, 'new-in', `deleted ${deleted?.id}`]) expect(await found(caller, 'tag', name)).toBe(0)
  const made = await send<Product>(caller, 'POST', '/v1/products', aSimpleProduct({ tags: ['New in'] }))
  const [again] = await tagsOf(caller)
  expect([again?.slug, again?.id === deleted?.id]).toEqual(['new-in', false])
  await refresh(caller)
  expect((await state(made.body.id)).tags).toEqual([again])
  expect((await state(first)).tags).toEqual([])
})

it('replicas at once move each product once', async () => {
  const { caller, cups, mugs } = await aLargeShop(3 * BATCH_SIZE)
  await remove(caller, `/v1/categories/${cups.id}?reassign_to=${mugs.id}`)
  await admin`delete from product_refresh where workspace_id = ${caller.workspaceId}`
  await Promise.all(Array.from({ length: 4 }, () => step(caller)))
  while (await step(caller));
  expect(await membersOf('product_category', 'category_id', mugs.id)).toBe(3 * BATCH_SIZE)
  expect(await requests(caller)).toBe(2 * BATCH_SIZE)
})
