import { randomUUID } from 'node:crypto'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { lockProducts } from '../products/read-products.ts'
import { aSimpleProduct } from '../products/testing/product-samples.ts'
import { catalog, type MaybeRefused } from './testing/categories-api.ts'

const { admin, contextOf, db, newCategory, newProduct, product, published, put, refresh, send, state, ...rest } =
  await catalog()
const { takeStatements, waitingSessions } = rest
const remove = (caller: Caller, id: string, query = ''): Promise<MaybeRefused<unknown>> =>
  send(caller, 'DELETE', `/v1/categories/${id}${query}`)
const categoryIds = async (caller: Caller) => {
  const rows = await admin`select id from category where workspace_id = ${caller.workspaceId} order by id`
  return rows.map(({ id }) => id)
}

it('answers 204 and fires category.deleted with the whole category (OP-01, OP-67)', async () => {
  const caller = aCaller()
  const category = await newCategory(caller, { position: 3 })
  const { status, body } = await remove(caller, category.id)
  expect([status, body]).toEqual([204, undefined])
  expect(await categoryIds(caller)).toEqual([])
  expect(await published(caller)).toEqual([{ type: 'category.deleted', key: category.id, payload: category }])
})

it('is refused with conflict while it has products, and applies nothing (OP-38)', async () => {
  const caller = aCaller()
  const { id } = await newCategory(caller)
  await newProduct(caller, { categories: [id] })
  const { status, body } = await remove(caller, id)
  expect([status, body.error.code]).toEqual([409, 'conflict'])
  expect(body.error.message).toContain('reassign_to: ')
  expect(await categoryIds(caller)).toEqual([id])
  expect((await published(caller)).map(({ type }) => type)).toEqual(['product.state'])
})

describe('reassign_to (OP-38)', () => {
  it('puts the target where the category was, and keeps a target that is there at the better place', async () => {
    const caller = aCaller()
    const [a, b] = await Promise.all(['A', 'B'].map((name) => newCategory(caller, { name })))
    const old = await newCategory(caller, { name: 'Old' })
    const target = await newCategory(caller, { name: 'New' })
    const order = async (...slugs: string[]) => (await newProduct(caller, { categories: slugs })).id
    const ids = await Promise.all([
      order('old', 'a'),
      order('a', 'old', 'b'),
      order('old', 'a', 'new'),
      order('new', 'b', 'old'),
      order('a', 'b'),
    ])
    expect((await remove(caller, old.id, `?reassign_to=${target.id.toUpperCase()}`)).status).toBe(204)
    const slugs = await Promise.all(
      ids.map(async (id) => (await product(caller, id)).categories.map(({ slug }) => slug)),
    )
    expect(slugs).toEqual([
      ['new', 'a'],
      ['a', 'new', 'b'],
      ['new', 'a'],
      ['new', 'b'],
      ['a', 'b'],
    ])
    expect(await categoryIds(caller)).toEqual([a?.id, b?.id, target.id].toSorted())
  })

  it('fires product.updated for each moved product soon, with the new categories (OP-37)', async () => {
    const caller = aCaller()
    const old = await newCategory(caller, { name: 'Old' })
    const target = await newCategory(caller, { name: 'New' })
    const moved = await newProduct(caller, { categories: ['old'] })
    const inBoth = await newProduct(caller, { categories: ['new', 'old'] })
    await newProduct(caller, { categories: ['new'] })
    await admin`delete from outbox where workspace_id = ${caller.workspaceId}`
    await remove(caller, old.id, `?reassign_to=${target.id}`)
    await refresh(caller)
    expect((await published(caller)).map(({ type, key }) => [type, key])).toEqual([
      ['category.deleted', old.id],
      ['product.updated', moved.id],
      ['product.state', moved.id],
      ['product.updated', inBoth.id],
      ['product.state', inBoth.id],
    ])
    expect(await state(moved.id)).toMatchObject({ category: 'New', categories: [{ id: target.id }], version: 2 })
  })

  it('is not needed, and harmless, for a category without products', async () => {
    const caller = aCaller()
    const [one, two, target] = await Promise.all([1, 2, 3].map(() => newCategory(caller)))
    expect((await remove(caller, `${one?.id}`)).status).toBe(204)
    expect((await remove(caller, `${two?.id}`, `?reassign_to=${target?.id}`)).status).toBe(204)
    expect(await refresh(caller)).toBe(0)
  })

  it("refuses itself, an unknown category and another workspace's with unprocessable", async () => {
    const caller = aCaller()
    const { id } = await newCategory(caller)
    await newProduct(caller, { categories: [id] })
    const foreign = await newCategory(aCaller())
    for (const target of [id, id.toUpperCase(), randomUUID(), foreign.id]) {
      const { status, body } = await remove(caller, id, `?reassign_to=${target}`)
      expect([status, body.error.code]).toEqual([422, 'unprocessable'])
      expect(body.error.message).toContain('reassign_to: ')
    }
    expect(await categoryIds(caller)).toEqual([id])
    expect(await refresh(caller)).toBe(0)
  })
})

describe('children (OP-38)', () => {
  it('move up to the parent, each firing category.updated', async () => {
    const caller = aCaller()
    const root = await newCategory(caller, { name: 'Kitchen' })
    const middle = await newCategory(caller, { name: 'Cups', parent: root.id })
    const children = [
      await newCategory(caller, { name: 'Small', parent: middle.id, position: 1 }),
      await newCategory(caller, { name: 'Large', parent: middle.id, position: 2 }),
    ]
    expect((await remove(caller, middle.id)).status).toBe(204)
    expect(await published(caller)).toEqual([
      ...children.map((child) => ({ type: 'category.updated', key: child.id, payload: { ...child, parent: root.id } })),
      { type: 'category.deleted', key: middle.id, payload: middle },
    ])
  })

  it('become roots with a root, and their products are published anew without product.updated (OP-37)', async () => {
    const caller = aCaller()
    const root = await newCategory(caller, { name: 'Kitchen' })
    const child = await newCategory(caller, { name: 'Cups', parent: root.id })
    const { id } = await newProduct(caller, { categories: ['cups'] })
    expect((await state(id)).categories).toMatchObject([{ parent: root.id, parent_slug: 'kitchen' }])
    await remove(caller, root.id)
    expect(await refresh(caller)).toBe(1)
    expect((await state(id)).categories).toMatchObject([{ id: child.id, parent: null, parent_slug: null }])
    expect((await published(caller)).map(({ type }) => type)).not.toContain('product.updated')
  })
})

it("answers 404 for an unknown id, one deleted before and another workspace's category (OP-02)", async () => {
  const caller = aCaller()
  const [deleted, foreign] = await Promise.all([newCategory(caller), newCategory(aCaller())])
  await remove(caller, deleted.id)
  for (const id of [randomUUID(), deleted.id, foreign.id]) {
    const { status, body } = await remove(caller, id)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  }
})

it.each([
  ['id', 'cups'],
  ['reassign_to', `${randomUUID()}?reassign_to=new`],
  ['reassign_to', `${randomUUID()}?reassign_to=`],
  ['force', `${randomUUID()}?force=true`],
])('refuses a wrong %s with bad_request naming it (OP-09, OP-27): %s', async (path, rest) => {
  const { status, body } = await remove(aCaller(), rest)
  expect([status, body.error.code]).toEqual([400, 'bad_request'])
  expect(body.error.message).toContain(`${path}: `)
})

it('needs the scope product::delete (OP-04)', async () => {
  const caller = aCaller()
  const { id } = await newCategory(caller)
  expect((await remove({ ...caller, scopes: ['product::update', 'product::read'] }, id)).status).toBe(403)
})

describe('at the same moment', () => {
  /** Puts a product into a category during the deletion; in every other round the deletion starts a little later. */
  async function whileDeleting(caller: Caller, round: number, id: string, query = '') {
    const creating = send<{ id: string }>(caller, 'POST', '/v1/products', aSimpleProduct({ categories: [id] }))
    if (round % 2) await put(caller, randomUUID(), {})
    return Promise.all([creating, remove(caller, id, query)])
  }

  it('a product put into it is refused, or refuses the deletion, in each of 30 rounds', async () => {
    for (let round = 0; round < 30; round++) {
      const caller = aCaller()
      const [made, removed] = await whileDeleting(caller, round, (await newCategory(caller)).id)
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual([made.status, removed.status])
    }
  })

  it('a product put into it is refused or moves along, in each of 30 rounds', async () => {
    for (let round = 0; round < 30; round++) {
      const caller = aCaller()
      const [old, target] = await Promise.all([newCategory(caller), newCategory(caller)])
      const [made, removed] = await whileDeleting(caller, round, old.id, `?reassign_to=${target.id}`)
      expect(removed.status).toBe(204)
      expect([201, 422]).toContain(made.status)
      if (made.status !== 201) continue
      await refresh(caller)
      expect((await state(made.body.id)).categories).toMatchObject([{ id: target.id }])
    }
  })

  it('a product that names it gets a new category of that name', async () => {
    for (let round = 0; round < 10; round++) {
      const caller = aCaller()
      const { id } = await newCategory(caller)
      const [made, removed] = await Promise.all([
        send(caller, 'POST', '/v1/products', aSimpleProduct({ category: { name: 'Cups' } })),
        remove(caller, id),
      ])
      expect(made.status).toBe(201)
      expect([204, 409]).toContain(removed.status)
    }
  })

  it('two that give their products to each other: one is deleted, the other has them, in each of 20 rounds', async () => {
    for (let round = 0; round < 20; round++) {
      const caller = aCaller()
      const [a, b] = await Promise.all([newCategory(caller), newCategory(caller)])
      const products = await Promise.all([a, b].map(({ id }) => newProduct(caller, { categories: [id] })))
      const answers = await Promise.all([
        remove(caller, a.id, `?reassign_to=${b.id}`),
        remove(caller, b.id, `?reassign_to=${a.id}`),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 422])
      const [left] = await categoryIds(caller)
      for (const { id } of products) expect((await product(caller, id)).categories).toMatchObject([{ id: left }])
    }
  })

  /** Deletes a category while a request changes the categories of its only product. */
  async function whileChanging(change: (tx: Transaction, product: string, target: string) => Promise<unknown>) {
    const caller = aCaller()
    const [old, target] = await Promise.all([newCategory(caller), newCategory(caller)])
    const { id } = await newProduct(caller, { categories: [old.id] })
    let removing: ReturnType<typeof remove> | undefined
    await db.inWorkspace(contextOf(caller), async (tx) => {
      await lockProducts(tx, [id])
      removing = remove(caller, old.id, `?reassign_to=${target.id}`)
      await waitingSessions(1)
      await change(tx, id, target.id)
    })
    expect((await removing)?.status).toBe(204)
    const { categories } = await product(caller, id)
    return { isTarget: categories.map((category) => category.id === target.id), refreshed: await refresh(caller) }
  }

  it('a product taken out of it is not put into the target', async () => {
    const ended = await whileChanging(
      (tx, id) => tx`
        delete from product_category where workspace_id = ${tx.context.workspaceId} and product_id = ${id}`,
    )
    expect(ended).toEqual({ isTarget: [], refreshed: 0 })
  })

  it('a product that was given the target as well keeps it once', async () => {
    const ended = await whileChanging(
      (tx, id, target) => tx`
        insert into product_category (workspace_id, product_id, category_id, position)
        values (${tx.context.workspaceId}, ${id}, ${target}, 2)`,
    )
    expect(ended).toEqual({ isTarget: [true], refreshed: 1 })
  })
})

it.each([1, 100])('sends at most 9 statements for %i products and children', async (count) => {
  const caller = aCaller()
  const [old, target] = await Promise.all([newCategory(caller), newCategory(caller)])
  for (let index = 0; index < count; index++) {
    await newProduct(caller, { categories: index % 2 ? [old.id] : [old.id, target.id] })
    await newCategory(caller, { parent: old.id, slug: `child-${index}` })
  }
  takeStatements()
  expect((await remove(caller, old.id, `?reassign_to=${target.id}`)).status).toBe(204)
  expect(takeStatements().length).toBeLessThanOrEqual(9)
  expect(await refresh(caller)).toBe(count)
})
