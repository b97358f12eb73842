import { randomUUID } from 'node:crypto'
import type { Category } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { catalog } from './testing/categories-api.ts'

const { admin, newCategory, published, put, takeStatements } = await catalog()

/** A root, its child and the child's child. */
async function aChain(caller: Caller): Promise<[Category, Category, Category]> {
  const root = await newCategory(caller, { name: 'Kitchen' })
  const middle = await newCategory(caller, { name: 'Cups', parent: root.id })
  return [root, middle, await newCategory(caller, { name: 'Small', parent: middle.id })]
}

describe('partial by presence (OP-38)', () => {
  it.each([
    [{ name: 'Mugs' }],
    [{ slug: 'mugs' }],
    [{ position: 9 }],
    [{ parent: null }],
    [{ name: 'Mugs', slug: 'mugs-and-more', position: 3, parent: null }],
  ])('changes what is sent and fires category.updated with the answer: %j', async (members) => {
    const caller = aCaller()
    const [, category] = await aChain(caller)
    const { status, body } = await put(caller, category.id, members)
    expect([status, body]).toEqual([200, { ...category, ...members }])
    expect(await published(caller)).toEqual([{ type: 'category.updated', key: category.id, payload: body }])
    const [row] = await admin`select name, slug, parent_id as parent, position from category where id = ${category.id}`
    expect({ id: category.id, ...row }).toEqual(body)
  })

  it('moves below another category', async () => {
    const caller = aCaller()
    const [root, , leaf] = await aChain(caller)
    expect((await put(caller, leaf.id, { parent: root.id.toUpperCase() })).body.parent).toBe(root.id)
  })

  it('keeps the slug when only the name changes', async () => {
    const caller = aCaller()
    const category = await newCategory(caller)
    expect((await put(caller, category.id, { name: 'Mugs' })).body.slug).toBe('cups')
  })

  it('answers 200 and fires nothing when nothing changes (OP-73)', async () => {
    const caller = aCaller()
    const [, category] = await aChain(caller)
    const rows = () => admin`select * from category where workspace_id = ${caller.workspaceId} order by id`
    const before = await rows()
    const { id, parent, ...members } = category
    for (const body of [{}, { name: 'Cups' }, { parent }, { ...members, parent: parent?.toUpperCase() }]) {
      expect(await put(caller, id, body)).toMatchObject({ status: 200, body: category })
    }
    expect(await rows()).toEqual(before)
    expect(await published(caller)).toEqual([])
  })

  it('applies two updates at once field by field, one event each', async () => {
    const caller = aCaller()
    const { id } = await newCategory(caller)
    const bodies = [{ name: 'Mugs' }, { position: 4 }, { slug: 'mugs' }]
    const answers = await Promise.all(bodies.map((body) => put(caller, id, body)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const events = await published(caller)
    expect(events).toHaveLength(3)
    expect(events[2]?.payload).toEqual({ id, name: 'Mugs', slug: 'mugs', parent: null, position: 4 })
  })
})

describe('no cycles (OP-38)', () => {
  it('refuses itself and what lies below as the parent with unprocessable, and applies nothing', async () => {
    const caller = aCaller()
    const [root, middle, leaf] = await aChain(caller)
    for (const parent of [root.id, middle.id, leaf.id]) {
      const { status, body } = await put(caller, root.id, { parent, name: 'Other' })
      expect([status, body.error.code]).toEqual([422, 'unprocessable'])
      expect(body.error.message).toContain('parent: ')
    }
    const [row] = await admin`select name, parent_id from category where id = ${root.id}`
    expect(row).toEqual({ name: 'Kitchen', parent_id: null })
    expect(await published(caller)).toEqual([])
  })

  it('lets exactly one of two opposite moves at once through, in each of 50 rounds', async () => {
    for (let round = 0; round < 50; round++) {
      const caller = aCaller()
      const [a, b] = await Promise.all([newCategory(caller), newCategory(caller)])
      const answers = await Promise.all([put(caller, a.id, { parent: b.id }), put(caller, b.id, { parent: a.id })])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    }
  })

  it('holds for three moves at once, in a ring', async () => {
    for (let round = 0; round < 10; round++) {
      const caller = aCaller()
      const ring = await Promise.all([1, 2, 3].map(() => newCategory(caller)))
      const moves = ring.map(({ id }, index) => put(caller, id, { parent: ring[(index + 1) % 3]?.id }))
      expect((await Promise.all(moves)).map(({ status }) => status).sort()).toEqual([200, 200, 422])
    }
  })
})

describe('refusals', () => {
  it("refuses a parent that is unknown or another workspace's with unprocessable", async () => {
    const caller = aCaller()
    const category = await newCategory(caller)
    const foreign = await newCategory(aCaller())
    for (const parent of [randomUUID(), foreign.id]) {
      const { status, body } = await put(caller, category.id, { parent })
      expect([status, body.error.code]).toEqual([422, 'unprocessable'])
      expect(body.error.message).toContain('parent: ')
    }
    expect(await published(caller)).toEqual([])
  })

  it('refuses a slug that is taken with conflict, also when two take it at once', async () => {
    const caller = aCaller()
    const [one, two] = await Promise.all([newCategory(caller), newCategory(caller)])
    const answers = await Promise.all([one, two].map(({ id }) => put(caller, id, { slug: 'mugs' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body.error.message).toContain('slug: "mugs"')
  })

  it("answers 404 for an unknown id and for another workspace's category (OP-02)", async () => {
    const foreign = await newCategory(aCaller())
    for (const id of [randomUUID(), foreign.id]) {
      const { status, body } = await put(aCaller(), id, { name: 'Mine' })
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
  })

  it.each<[string, unknown]>([
    ['name', { name: null }],
    ['name', { name: '  ' }],
    ['name', { name: 'x'.repeat(256) }],
    ['slug', { slug: null }],
    ['slug', { slug: 'Big Cups' }],
    ['slug', { slug: randomUUID() }],
    ['parent', { parent: 'none' }],
    ['position', { position: null }],
    ['position', { position: 2 ** 31 }],
    ['products', { products: [] }],
    ['body', 'null'],
  ])('refuses a wrong %s with bad_request naming it (OP-09): %j', async (path, members) => {
    const caller = aCaller()
    const { id } = await newCategory(caller)
    const { status, body } = await put(caller, id, members)
    expect([status, body.error.code]).toEqual([400, 'bad_request'])
    expect(body.error.message).toContain(`${path}: `)
    expect(await published(caller)).toEqual([])
  })

  it('refuses an id that is no UUID with bad_request', async () => {
    const { status, body } = await put(aCaller(), 'cups', { name: 'Mugs' })
    expect([status, body.error.message]).toEqual([400, 'id: must be a UUID'])
  })

  it('needs the scope product::update (OP-04)', async () => {
    const caller = aCaller()
    const { id } = await newCategory(caller)
    const reader = { ...caller, scopes: ['product::read', 'product::create', 'product::delete'] }
    expect((await put(reader, id, { name: 'Mugs' })).status).toBe(403)
  })
})

it('sends at most 6 statements', async () => {
  const caller = aCaller()
  const [root, , leaf] = await aChain(caller)
  takeStatements()
  await put(caller, leaf.id, { name: 'Tiny', slug: 'tiny', parent: root.id, position: 1 })
  expect(takeStatements().length).toBeLessThanOrEqual(6)
})
