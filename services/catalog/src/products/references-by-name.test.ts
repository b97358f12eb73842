import type { Product } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { catalog } from '../categories/testing/categories-api.ts'
import { resolveReferences } from './references.ts'
import { aSimpleProduct } from './testing/product-samples.ts'

const { admin, contextOf, db, newCategory, newProduct, send, state, takeStatements } = await catalog()

const categoryOf = async (caller: Caller, name: string) =>
  (await newProduct(caller, { category: { name } })).categories[0]
const tagsOf = async (caller: Caller, tags: readonly string[]) =>
  (await state((await newProduct(caller, { tags })).id)).tags
const rows = (caller: Caller, table: 'category' | 'tag') => admin<{ name: string; slug: string }[]>`
  select name, slug from ${admin(table)} where workspace_id = ${caller.workspaceId} order by id`

/** Names of which each group gives one slug. */
const NAMES = ['🔥', '⭐', '!!!', 'C++', 'C#', 'C', 'Café', 'Cafe', 'Shoes & Bags', 'Shoes Bags', 'A/B', 'A B']
const slugsAfter = (blank: string) => [
  ...[blank, `${blank}-2`, `${blank}-3`, 'c', 'c-2', 'c-3', 'cafe', 'cafe-2'],
  ...['shoes-bags', 'shoes-bags-2', 'a-b', 'a-b-2'],
]

describe('a legacy category by name is created if missing (spec: Product input for create; OP-25)', () => {
  it('is the one of the name that was sent, with a slug of its own', async () => {
    const caller = aCaller()
    const made = []
    for (const name of NAMES) made.push(await categoryOf(caller, name))
    expect(made.map((category) => category?.name)).toEqual(NAMES)
    expect(made.map((category) => category?.slug)).toEqual(slugsAfter('category'))
    for (const category of made) expect(await categoryOf(caller, category?.name ?? '')).toEqual(category)
  })

  it('is the same in any case, with spaces around it and however its accents are encoded', async () => {
    const caller = aCaller()
    await categoryOf(caller, 'Ete')
    const summer = await categoryOf(caller, ' Été ')
    expect(summer).toMatchObject({ name: 'Été', slug: 'ete-2' })
    for (const name of ['Été', 'ÉTÉ', 'été\u00a0', 'e\u0301te\u0301', 'Été  ']) {
      expect(await categoryOf(caller, name)).toEqual(summer)
    }
    const exact = await newCategory(caller, { name: 'été' })
    expect((await categoryOf(caller, 'été'))?.id).toBe(exact.id)
    expect((await categoryOf(caller, 'Été'))?.id).toBe(summer?.id)
  })

  it('has a name of any length that fits, also of letters that are longer composed', async () => {
    const name = '\ufb2c'.repeat(255)
    expect(await categoryOf(aCaller(), name)).toMatchObject({ name })
  })

  it('is composed also where its characters have two units each', async () => {
    const name = `${'😀'.repeat(250)}e\u0301`
    expect(await categoryOf(aCaller(), name)).toMatchObject({ name: name.normalize('NFC') })
  })

  it('is found however its name was stored', async () => {
    const caller = aCaller()
    for (const [name, slug] of [
      ['e\u0301te\u0301', 'summer'],
      ['Foo  Bar', 'foo'],
      ['Mugs ', 'cups'],
    ] as const) {
      await newCategory(caller, { name, slug })
      expect(await categoryOf(caller, name)).toMatchObject({ slug })
    }
    expect(await categoryOf(caller, 'Été')).toMatchObject({ slug: 'summer' })
  })

  it('is found when its slug was given or its name changed', async () => {
    const caller = aCaller()
    const { id } = await newCategory(caller, { name: 'Old', slug: 'mugs' })
    await send(caller, 'PUT', `/v1/categories/${id}`, { name: 'Cups' })
    expect((await categoryOf(caller, 'cups'))?.id).toBe(id)
    expect(await categoryOf(caller, 'Mugs')).toMatchObject({ name: 'Mugs', slug: 'mugs-2' })
  })

  it('is made once by many requests at once, whose slug another one has', async () => {
    for (let round = 0; round < 5; round++) {
      const caller = aCaller()
      await categoryOf(caller, 'C++')
      const names = Array.from({ length: 12 }, (_, index) => ['C#', 'C', 'c#'][index % 3] ?? '')
      const made = await Promise.all(names.map((name) => categoryOf(caller, name)))
      expect(new Set(made.map((category) => category?.id)).size).toBe(2)
      expect((await rows(caller, 'category')).map(({ slug }) => slug).toSorted()).toEqual(['c', 'c-2', 'c-3'])
    }
  })

  it('takes its number from those of POST /v1/categories at the same time', async () => {
    const caller = aCaller()
    await Promise.all(
      ['🔥', '⭐', '!!!', '♥'].flatMap((name) => [categoryOf(caller, name), newCategory(caller, { name: `${name}!` })]),
    )
    expect(await rows(caller, 'category')).toHaveLength(8)
  })
})

describe('tags are the same when their names are (spec: Update rules 2; OP-25)', () => {
  it('are those that were sent, each with a slug of its own', async () => {
    const caller = aCaller()
    const tags = await tagsOf(caller, NAMES)
    expect(tags.map(({ name }) => name)).toEqual(NAMES)
    expect(tags.map(({ slug }) => slug)).toEqual(slugsAfter('tag'))
    expect(await tagsOf(caller, NAMES.toReversed())).toEqual(tags.toReversed())
    expect((await tagsOf(caller, ['c# ', 'C#'])).map(({ id }) => id)).toEqual([tags[4]?.id])
  })

  it('are made once by many requests at once, whose slug another one has', async () => {
    for (let round = 0; round < 5; round++) {
      const caller = aCaller()
      await tagsOf(caller, ['C++'])
      await Promise.all(Array.from({ length: 12 }, (_, index) => tagsOf(caller, index % 2 ? ['C', 'C#'] : ['c#', 'c'])))
      const made = await rows(caller, 'tag')
      expect(made.map(({ slug }) => slug).toSorted()).toEqual(['c', 'c-2', 'c-3'])
    }
  })

  it('find their products by slug, else by name in any case (OP-92)', async () => {
    const caller = aCaller()
    for (const tag of ['C++', 'C#', 'New in']) await newProduct(caller, { name: tag, tags: [tag] })
    const found = async (tag: string) => {
      const path = `/v1/products?tag=${encodeURIComponent(tag)}`
      return (await send<{ items: Product[] }>(caller, 'GET', path)).body.items.map(({ name }) => name)
    }
    for (const tag of ['C++', 'c']) expect([tag, await found(tag)]).toEqual([tag, ['C++']])
    for (const tag of ['C#', 'c#', 'c-2']) expect([tag, await found(tag)]).toEqual([tag, ['C#']])
    for (const tag of ['New in', 'new  in ', 'new-in']) expect([tag, await found(tag)]).toEqual([tag, ['New in']])
    for (const tag of ['🔥', 'C?']) expect([tag, await found(tag)]).toEqual([tag, []])
  })
})

it('sends at most 13 statements, however many names have the slugs of others', async () => {
  for (const count of [1, 40]) {
    const caller = aCaller()
    const names = (suffix: string) => Array.from({ length: count }, (_, index) => `Tag ${index}x${suffix}`)
    await newProduct(caller, { tags: names('?'), category: { name: 'C++' } })
    takeStatements()
    await newProduct(caller, { tags: names('!'), category: { name: 'C#' } })
    expect(takeStatements().length).toBeLessThanOrEqual(13)
  }
})

it('takes at most 64 locks, however many slugs are taken: the lock table is that of the whole server', async () => {
  const tags = Array.from({ length: 2000 }, (_, index) => ({ name: `${index}!`, slug: String(index) }))
  const twins = tags.map((tag) => ({ ...tag, name: tag.name.replace('!', '?') }))
  const locks = await db.inWorkspace(contextOf(aCaller()), async (tx) => {
    await resolveReferences(tx, { tags: [...tags, ...twins] }, new Date())
    return tx`select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`
  })
  expect(locks.length).toBeGreaterThan(0)
  expect(locks.length).toBeLessThanOrEqual(64)
})

it.each(['category', 'tag'] as const)('of 20,000 a %s is found through indexes', async (table) => {
  const caller = aCaller()
  const isTag = table === 'tag'
  await admin`
    insert into ${admin(table)} (workspace_id, id, name, slug ${isTag ? admin`` : admin`, created_at, updated_at`})
    select
      ${caller.workspaceId}, gen_random_uuid(), 'Name ' || n, 'name-' || n ${isTag ? admin`` : admin`, now(), now()`}
    from generate_series(1, 20000) n`
  await admin`analyze ${admin(table)}`
  takeStatements()
  await newProduct(caller, isTag ? { tags: ['Name 7!'] } : { category: { name: 'Name 7!' } })
  const statement = takeStatements().find((text) => text.includes('folded_name = any')) ?? ''
  const plan = await db.inWorkspace(contextOf(caller), (tx) => tx.unsafe(`explain (generic_plan) ${statement}`))
  const text = plan.map((line) => line['QUERY PLAN']).join('\n')
  expect(text).toMatch(/Index Cond: .*folded_name = ANY/)
  expect(text).not.toMatch(/Seq Scan on (category|tag)\b/)
})

it('are those of each product of a batch', async () => {
  const caller = aCaller()
  const names = ['🔥', '⭐', 'C#', 'C', 'c#']
  const rows = names.map((name) => aSimpleProduct({ name, category: { name }, tags: [name, 'C++'] }))
  const { body } = await send<{ results: { id: string }[] }>(caller, 'POST', '/v1/products/batch', { rows })
  const made = await Promise.all(body.results.map(({ id }) => state(id)))
  expect(made.map(({ category }) => category)).toEqual(['🔥', '⭐', 'C#', 'C', 'C#'])
  const tags = made.map(({ tags }) => tags.map(({ name }) => name))
  expect(tags).toEqual(['🔥', '⭐', 'C#', 'C', 'C#'].map((name) => [name, 'C++']))
})
