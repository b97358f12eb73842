import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct } from '../products/testing/product-samples.ts'
import { catalog } from './testing/categories-api.ts'

const { admin, newCategory, newProduct, product, published, put, refresh, send, state, waitingSessions } =
  await catalog()

/** A category with a child, each with a product. */
async function aShop(caller: Caller) {
  const parent = await newCategory(caller, { name: 'Kitchen' })
  const child = await newCategory(caller, { name: 'Cups', parent: parent.id })
  const inParent = await newProduct(caller, { categories: ['kitchen'] })
  const inChild = await newProduct(caller, { categories: ['cups'] })
  await admin`delete from outbox where workspace_id = ${caller.workspaceId}`
  return { parent, child, inParent, inChild }
}

const refreshed = async (caller: Caller) =>
  (await published(caller)).filter(({ type }) => type.startsWith('product')).map(({ type, key }) => `${type} ${key}`)

describe('what products show of a changed category is published anew, without product.updated (OP-37)', () => {
  it('tells projections the new name of a renamed category', async () => {
    const caller = aCaller()
    const { parent, inParent } = await aShop(caller)
    await put(caller, parent.id, { name: 'Cooking' })
    await refresh(caller)
    expect(await refreshed(caller)).toEqual([`product.state ${inParent.id}`])
    expect(await state(inParent.id)).toMatchObject({
      category: 'Cooking',
      categories: [{ name: 'Cooking', slug: 'kitchen' }],
      version: 2,
      updated_at: inParent.updated_at,
    })
  })

  it('tells them a new slug, as the parent_slug of what is in the children as well', async () => {
    const caller = aCaller()
    const { parent, inParent, inChild } = await aShop(caller)
    await put(caller, parent.id, { slug: 'cooking' })
    expect(await refresh(caller)).toBe(2)
    expect((await state(inParent.id)).categories).toMatchObject([{ slug: 'cooking' }])
    expect((await state(inChild.id)).categories).toMatchObject([{ slug: 'cups', parent_slug: 'cooking' }])
  })

  it('tells them of a move', async () => {
    const caller = aCaller()
    const { child, inChild } = await aShop(caller)
    await put(caller, child.id, { parent: null })
    await refresh(caller)
    expect((await state(inChild.id)).categories).toMatchObject([{ parent: null, parent_slug: null }])
    expect(await refreshed(caller)).toEqual([`product.state ${inChild.id}`])
  })

  it('tells nothing of a new position, which products do not show', async () => {
    const caller = aCaller()
    const { parent } = await aShop(caller)
    await put(caller, parent.id, { position: 5 })
    expect(await refresh(caller)).toBe(0)
  })
})

describe('a product that joins a category while it changes', () => {
  /** Stops a request between its reading of the category and its write, until `during` is done. */
  async function whileJoining<Result>(caller: Caller, during: () => Promise<Result>) {
    const holding = Promise.withResolvers<void>()
    const lock = admin.begin(async (tx) => {
      await tx`lock table product in share mode`
      holding.resolve()
      await waitingSessions(1)
      return during()
    })
    await holding.promise
    const joining = send<{ id: string }>(caller, 'POST', '/v1/products', aSimpleProduct({ categories: ['cups'] }))
    const result = await lock
    return { result, joined: await joining }
  }

  it('is published anew when it had read the category as it was', async () => {
    const caller = aCaller()
    const { child } = await aShop(caller)
    const { joined } = await whileJoining(caller, () => put(caller, child.id, { name: 'Mugs' }))
    expect((await state(joined.body.id)).category).toBe('Cups')
    await refresh(caller)
    expect((await state(joined.body.id)).category).toBe('Mugs')
  })

  it('is published anew when it had read the slug of the parent as it was', async () => {
    const caller = aCaller()
    const { parent } = await aShop(caller)
    const { joined } = await whileJoining(caller, () => put(caller, parent.id, { slug: 'cooking' }))
    await refresh(caller)
    expect((await state(joined.body.id)).categories).toMatchObject([{ parent_slug: 'cooking' }])
  })

  it.each([
    ['its name', 'child', { name: 'Mugs' }, { name: 'Mugs' }],
    ["its parent's slug", 'parent', { slug: 'cooking' }, { parent_slug: 'cooking' }],
  ] as const)('is published anew when the change of %s had begun without it', async (_, which, change, shown) => {
    const caller = aCaller()
    const shop = await aShop(caller)
    const holding = Promise.withResolvers<void>()
    const lock = admin.begin(async (tx) => {
      await tx`lock table member_change in share mode`
      holding.resolve()
      await waitingSessions(2)
    })
    await holding.promise
    const changing = put(caller, shop[which].id, change)
    await waitingSessions(1)
    const [joined] = await Promise.all([newProduct(caller, { categories: ['cups'] }), lock, changing])
    await refresh(caller)
    expect((await state(joined.id)).categories).toMatchObject([shown])
  })

  it('is told the truth in each of 20 rounds', async () => {
    for (let round = 0; round < 20; round++) {
      const caller = aCaller()
      const { child } = await aShop(caller)
      const [joined] = await Promise.all([
        newProduct(caller, { categories: ['cups'] }),
        put(caller, child.id, { name: 'Mugs' }),
      ])
      await refresh(caller)
      expect((await state(joined.id)).category).toBe('Mugs')
    }
  })

  it('asks for nothing when the category changed long ago', async () => {
    const caller = aCaller()
    const { child } = await aShop(caller)
    await put(caller, child.id, { name: 'Mugs' })
    await refresh(caller)
    await admin`update category_change set changed_at = changed_at - interval '1 hour'`
    const joined = await newProduct(caller, { categories: ['cups'] })
    expect(await refresh(caller)).toBe(0)
    expect((await product(caller, joined.id)).category).toBe('Mugs')
  })
})
