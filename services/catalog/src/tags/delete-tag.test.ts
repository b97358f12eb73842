import { randomUUID } from 'node:crypto'
import type { Tag } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { catalog, type MaybeRefused } from '../categories/testing/categories-api.ts'
import { aSimpleProduct } from '../products/testing/product-samples.ts'

const { admin, newProduct, product, published, refresh, send, state, takeStatements } = await catalog()
const remove = (caller: Caller, id: string): Promise<MaybeRefused<unknown>> => send(caller, 'DELETE', `/v1/tags/${id}`)
const tags = async (caller: Caller) => (await send<{ items: Tag[] }>(caller, 'GET', '/v1/tags')).body.items
const tagNamed = async (caller: Caller, name: string) =>
  (await tags(caller)).find((tag) => tag.name === name) ?? expect.fail(`no tag ${name}`)

it('answers 204 and fires tag.deleted with the whole tag (OP-01, OP-67)', async () => {
  const caller = aCaller()
  await newProduct(caller, { tags: ['New in'] })
  await admin`delete from outbox where workspace_id = ${caller.workspaceId}`
  const tag = await tagNamed(caller, 'New in')
  const { status, body } = await remove(caller, tag.id.toUpperCase())
  expect([status, body]).toEqual([204, undefined])
  expect(await published(caller)).toEqual([{ type: 'tag.deleted', key: tag.id, payload: tag }])
  expect(await tags(caller)).toEqual([])
})

it('untags its products, each firing product.updated, and leaves the others (spec: Event names and data; OP-37)', async () => {
  const caller = aCaller()
  const tagged = await newProduct(caller, { tags: ['Gift', 'New in', 'Sale'] })
  const other = await newProduct(caller, { tags: ['Sale'] })
  await admin`delete from outbox where workspace_id = ${caller.workspaceId}`
  const tag = await tagNamed(caller, 'New in')
  await remove(caller, tag.id)
  const now = new Date(Date.now() + 1000)
  expect(await refresh(caller, now)).toBe(1)
  const events = await published(caller)
  expect(events.map(({ type, key }) => [type, key])).toEqual([
    ['tag.deleted', tag.id],
    ['product.updated', tagged.id],
    ['product.state', tagged.id],
  ])
  expect(events[1]?.payload).toEqual({ ...tagged, updated_at: now.toISOString() })
  expect(await product(caller, tagged.id)).toEqual(events[1]?.payload)
  expect((await state(tagged.id)).tags.map(({ slug }) => slug)).toEqual(['gift', 'sale'])
  expect((await product(caller, other.id)).updated_at).toBe(other.updated_at)
})

it('can be made again, with another id', async () => {
  const caller = aCaller()
  await newProduct(caller, { tags: ['New in'] })
  const tag = await tagNamed(caller, 'New in')
  await remove(caller, tag.id)
  await newProduct(caller, { tags: ['New in'] })
  expect((await tagNamed(caller, 'New in')).id).not.toBe(tag.id)
})

it('lets a product tagged at the same moment have it anew, in each of 30 rounds', async () => {
  for (let round = 0; round < 30; round++) {
    const caller = aCaller()
    await newProduct(caller, { tags: ['New in'] })
    const tag = await tagNamed(caller, 'New in')
    const creating = send<{ id: string }>(caller, 'POST', '/v1/products', aSimpleProduct({ tags: ['New in'] }))
    if (round % 2) await tags(caller)
    const [made, removed] = await Promise.all([creating, remove(caller, tag.id)])
    expect([made.status, removed.status]).toEqual([201, 204])
    await refresh(caller)
    // A product tagged before the deletion is untagged with the others; one tagged after it has a new tag of that name.
    const left = await tags(caller)
    expect((await state(made.body.id)).tags).toEqual(left)
    expect(left.map(({ id }) => id)).not.toContain(tag.id)
  }
})

it('lets one of two deletions at once through', async () => {
  const caller = aCaller()
  await newProduct(caller, { tags: ['New in'] })
  const { id } = await tagNamed(caller, 'New in')
  const answers = await Promise.all([remove(caller, id), remove(caller, id)])
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 404])
  expect(await refresh(caller)).toBe(1)
})

it("answers 404 for an unknown id and for another workspace's tag (OP-02)", async () => {
  const owner = aCaller()
  await newProduct(owner, { tags: ['New in'] })
  const foreign = await tagNamed(owner, 'New in')
  for (const id of [randomUUID(), foreign.id]) {
    const { status, body } = await remove(aCaller(), id)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  }
  expect(await tags(owner)).toEqual([foreign])
})

it('refuses an id that is no UUID with bad_request (OP-09)', async () => {
  const { status, body } = await remove(aCaller(), 'new-in')
  expect([status, body.error.message]).toEqual([400, 'id: must be a UUID'])
})

it('needs the scope product::delete (OP-04)', async () => {
  expect((await remove(aCaller({ scopes: ['product::read'] }), randomUUID())).status).toBe(403)
})

it.each([1, 60])('sends at most 8 statements for %i products', async (count) => {
  const caller = aCaller()
  for (let index = 0; index < count; index++) await newProduct(caller, { tags: ['New in'] })
  const { id } = await tagNamed(caller, 'New in')
  takeStatements()
  await remove(caller, id)
  expect(takeStatements().length).toBeLessThanOrEqual(8)
})
