import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'
import { productApi } from './testing/products-api.ts'

const { admin, create, read, update, refuse, recordsOf, tagsOf, anAsset } = await productApi()

describe('what generated clients send for members that nobody set (OP-244)', () => {
  it('lists of null leave categories, tags and media as they are', async () => {
    const caller = aCaller()
    const asset = await anAsset(caller)
    const product = aSimpleProduct({ category: { name: 'Mugs' }, tags: ['One'], medias: [{ asset }] })
    const { id, categories, media } = await create(caller, product)
    const lists = { categories: null, tags: null, medias: null, remove_medias: null }
    const { status, body } = await update(caller, id, { name: 'Other', ...lists })
    expect([status, body]).toMatchObject([200, { name: 'Other', categories, media }])
    expect(await tagsOf(id)).toEqual(['one'])
  })

  it.each(['price', 'cost'])('a %s that names no currency is refused, and nothing is applied', async (member) => {
    const caller = aCaller()
    const product = await create(caller, aSimpleProduct({ cost: { NGN: 1 } }))
    expect(await refuse(caller, product.id, { name: 'Other', [member]: {} })).toEqual([
      422,
      'unprocessable',
      `${member}: names no currency; leave it out to keep the amounts, or send null to remove them`,
    ])
    expect(await read(caller, product.id)).toEqual(product)
  })
})

it.each([null, {}])('amounts of %j at the top of a VARIABLE product are taken for none (OP-244)', async (amounts) => {
  const caller = aCaller()
  const product = await create(caller, aVariableProduct({ price: amounts, cost: amounts }))
  const { status, body } = await update(caller, product.id, { price: amounts, cost: amounts })
  expect([status, body]).toEqual([200, product])
})

describe('Update rule 2: tags', () => {
  it('leaves them when omitted, clears them with [], replaces them otherwise', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct({ tags: ['One', 'Two'] }))
    await update(caller, id, { name: 'Other' })
    expect(await tagsOf(id)).toEqual(['one', 'two'])
    await update(caller, id, { tags: ['Three', 'ONE', 'three'] })
    expect(await tagsOf(id)).toEqual(['three', 'one'])
    await update(caller, id, { tags: [] })
    expect(await tagsOf(id)).toEqual([])
  })

  it('fires product.updated on tagging and untagging, and tag.created for a new tag', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct())
    await update(caller, id, { tags: ['Fresh'] })
    await update(caller, id, { tags: [] })
    const records = await admin`select type from outbox where workspace_id = ${caller.workspaceId} order by id`
    expect(records.map(({ type }) => type)).toEqual([
      ...['product.created', 'product.state'],
      ...['tag.created', 'product.updated', 'product.state'],
      ...['product.updated', 'product.state'],
    ])
  })
})

describe('Update rule 4: media', () => {
  it('adds, repositions and detaches', async () => {
    const caller = aCaller()
    const [front, back, side] = [await anAsset(caller), await anAsset(caller), await anAsset(caller)]
    const { id } = await create(caller, aSimpleProduct({ medias: [{ asset: front }] }))
    const added = (await update(caller, id, { medias: [{ asset: back, position: 7 }, { asset: side }] })).body.media
    expect(added.map(({ url, position }) => [url.split('/').at(-1), position])).toEqual([
      [`${front}.png`, 0],
      [`${back}.png`, 7],
      [`${side}.png`, 8],
    ])
    expect(added[0]).toEqual({
      id: expect.any(String),
      url: `http://localhost:8080/assets/${front}.png`,
      thumbnail: `http://localhost:8080/assets/${front}-500.png`,
      type: 'image/png',
      position: 0,
    })
    const moved = await update(caller, id, {
      medias: [
        { id: added[2]?.id, position: 0 },
        { asset: front, position: 3 },
      ],
    })
    expect(moved.body.media.map(({ id: item, position }) => [item, position])).toEqual([
      [added[2]?.id, 0],
      [added[0]?.id, 3],
      [added[1]?.id, 7],
    ])
    const left = await update(caller, id, { remove_medias: [added[0]?.id, added[1]?.id] })
    expect(left.body.media).toEqual([{ ...added[2], position: 0 }])
    expect(await read(caller, id)).toEqual(left.body)
  })

  it('detaches before it adds, so that an asset can be put to the end at once', async () => {
    const caller = aCaller()
    const [front, back] = [await anAsset(caller), await anAsset(caller)]
    const before = await create(caller, aSimpleProduct({ medias: [{ asset: front }, { asset: back }] }))
    const { body } = await update(caller, before.id, {
      remove_medias: [before.media[0]?.id],
      medias: [{ asset: front }],
    })
    expect(body.media.map(({ url, position }) => [url.split('/').at(-1), position])).toEqual([
      [`${back}.png`, 1],
      [`${front}.png`, 2],
    ])
  })

  it('takes an entry with asset and id, of which either may be null (OP-36)', async () => {
    const caller = aCaller()
    const [front, back] = [await anAsset(caller), await anAsset(caller)]
    const { id, media } = await create(caller, aSimpleProduct({ medias: [{ asset: front, id: null, position: null }] }))
    const medias = [
      { asset: front, id: media[0]?.id, position: 4 },
      { asset: back, id: null, position: 1 },
    ]
    const { body } = await update(caller, id, { medias })
    expect(body.media.map(({ position }) => position)).toEqual([1, 4])
    expect(body.media[1]).toEqual({ ...media[0], position: 4 })
    const moved = await update(caller, id, { medias: [{ asset: null, id: media[0]?.id, position: 0 }] })
    expect(moved.body.media.map(({ id }) => id)).toEqual([media[0]?.id, body.media[0]?.id])
    expect(await refuse(caller, id, { medias: [{ asset: back, id: media[0]?.id, position: 1 }] })).toEqual([
      422,
      'unprocessable',
      `medias[0].asset: is not the asset of the media item ${media[0]?.id}; send one of both`,
    ])
  })

  it('refuses assets and media that are not there, or are somebody else’s, and applies nothing', async () => {
    const caller = aCaller()
    const other = aCaller()
    const foreignAsset = await anAsset(other)
    const { media: foreignMedia } = await create(other, aSimpleProduct({ medias: [{ asset: foreignAsset }] }))
    const sibling = await create(caller, aSimpleProduct({ medias: [{ asset: await anAsset(caller) }] }))
    const before = await create(caller, aSimpleProduct({ medias: [{ asset: await anAsset(caller) }] }))
    for (const [members, path] of [
      [{ medias: [{ asset: await anAsset(caller) }, { asset: foreignAsset }] }, 'medias[1].asset'],
      [{ medias: [{ asset: randomUUID() }] }, 'medias[0].asset'],
      [{ medias: [{ id: foreignMedia[0]?.id, position: 1 }] }, 'medias[0].id'],
      [{ medias: [{ id: sibling.media[0]?.id, position: 1 }] }, 'medias[0].id'],
      [{ medias: [{ id: randomUUID(), asset: await anAsset(caller), position: 1 }] }, 'medias[0].id'],
      [{ remove_medias: [before.media[0]?.id, sibling.media[0]?.id] }, 'remove_medias[1]'],
      [{ remove_medias: [foreignMedia[0]?.id] }, 'remove_medias[0]'],
    ] as const) {
      const [status, code, message] = await refuse(caller, before.id, { name: 'Other', ...members })
      expect([status, code]).toEqual([422, 'unprocessable'])
      expect(message.startsWith(`${path}: `), message).toBe(true)
    }
    expect(await read(caller, before.id)).toEqual(before)
  })
})

describe('Update rule 5: categories', () => {
  it('replaces the set in the order sent and wins over category; [] clears all memberships', async () => {
    const caller = aCaller()
    for (const name of ['One', 'Two']) await create(caller, aSimpleProduct({ category: { name } }))
    const { id } = await create(caller, aSimpleProduct({ category: { name: 'Three' } }))
    const { body } = await update(caller, id, { category: { name: 'Four' }, categories: ['two', 'three', 'one'] })
    expect(body.categories.map(({ slug }) => slug)).toEqual(['two', 'three', 'one'])
    expect(body.category).toBe('Two')
    const shown = await update(caller, id, { category: body.category, categories: ['one', 'two', 'three'] })
    expect(shown).toMatchObject({ status: 200, body: { category: 'One' } })
    const again = await update(caller, id, { categories: ['one', 'two'] })
    expect(again.body.categories.map(({ slug }) => slug)).toEqual(['one', 'two'])
    expect(await read(caller, id)).toEqual(again.body)
    expect((await update(caller, id, { categories: [] })).body).toMatchObject({ category: null, categories: [] })
    expect(await admin`select from category where workspace_id = ${caller.workspaceId} and slug = 'four'`).toHaveLength(
      0,
    )
  })

  it('takes a legacy category by id or by name, created if missing, and clears with null (OP-79)', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct({ category: { name: 'One' } }))
    const two = await update(caller, id, { category: { name: 'Two' } })
    expect(two.body.categories.map(({ name }) => name)).toEqual(['Two'])
    const one = await update(caller, id, { category: { name: 'One' } })
    expect(one.body.category).toBe('One')
    const byId = await update(caller, id, { category: { id: two.body.categories[0]?.id } })
    expect(byId.body.categories).toEqual(two.body.categories)
    expect((await update(caller, id, { category: null })).body.categories).toEqual([])
    const made = await admin`
      select payload from outbox where workspace_id = ${caller.workspaceId} and type = 'category.created' order by id`
    expect(made.map(({ payload }) => payload.name)).toEqual(['One', 'Two'])
  })

  it('refuses an unknown id or slug with 422 unprocessable and applies nothing', async () => {
    const caller = aCaller()
    const foreign = await create(aCaller(), aSimpleProduct({ category: { name: 'Foreign' } }))
    const before = await create(caller, aSimpleProduct({ category: { name: 'One' }, tags: ['old'] }))
    for (const categories of [['one', 'nowhere'], [randomUUID()], ['foreign'], [foreign.categories[0]?.id]]) {
      const [status, code, message] = await refuse(caller, before.id, {
        ...{ name: 'Other', stock: 99, slug: 'other', tags: ['fresh'], categories },
      })
      expect([status, code]).toEqual([422, 'unprocessable'])
      expect(message).toMatch(/^categories\[\d\]: this workspace has no category/)
    }
    expect(await read(caller, before.id)).toEqual(before)
    expect(await tagsOf(before.id)).toEqual(['old'])
    expect(await recordsOf(before.id)).toHaveLength(2)
    expect(await admin`select from tag where workspace_id = ${caller.workspaceId} and slug = 'fresh'`).toHaveLength(0)
  })
})
