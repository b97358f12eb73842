import type { Collection } from '@backoffice/contracts/collection.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { lockMembershipsShared } from '../memberships/membership-lock.ts'
import { collectionsService } from '../testing/collections-api.ts'

const { admin, worker, send, create, products, startBuilder, published, takeStatements, membershipDifferences } =
  await collectionsService()
await startBuilder()

const remove = (caller: Caller, handle: string) => send(caller, 'DELETE', `/v1/collections/${handle}`)

it('a deleted collection is gone for reads and writes, and collection.deleted has its id (OP-32, OP-67)', async () => {
  const caller = aCaller()
  const collection = await create(caller)
  expect(await remove(caller, collection.handle)).toMatchObject({ status: 204, body: undefined })
  for (const path of [collection.id, collection.handle, `${collection.id}/products`]) {
    expect((await send(caller, 'GET', `/v1/collections/${path}`)).status).toBe(404)
  }
  expect((await send(caller, 'PUT', `/v1/collections/${collection.id}`, { name: 'x' })).status).toBe(404)
  expect((await remove(caller, collection.id)).status).toBe(404)
  expect(await published(caller)).toMatchObject([
    { type: 'collection.created' },
    { type: 'collection.deleted', key: collection.id, payload: { id: collection.id } },
  ])
})

it('drafts are deleted too, and the handle is free again', async () => {
  const caller = aCaller()
  const { id } = await create(caller, { published: false })
  expect((await remove(caller, id)).status).toBe(204)
  expect((await create(caller)).handle).toBe('summer')
})

it('its members and their counts are deleted in the background, its products stay in other collections', async () => {
  const caller = aCaller()
  const ids = (await products(caller, 'Shirt', 'Cap')).map(({ id }) => id)
  const [one, other] = [await create(caller), await create(caller)]
  for (const { id } of [one, other]) await send(caller, 'POST', `/v1/collections/${id}/products`, { products: ids })
  const [{ number } = { number: '' }] = await admin<{ number: string }[]>`
    select number from membership_version where collection_id = ${one.id}`
  await remove(caller, one.id)
  await eventually('nothing is left', async () => {
    const left = await admin`
      select version_number from collection_member where version_number = ${number}
      union all select version_number from collection_member_count where version_number = ${number}
      union all select number from membership_version where collection_id = ${one.id}`
    return left.length === 0
  })
  expect((await send<Collection>(caller, 'GET', `/v1/collections/${other.id}`)).body.product_count).toBe(2)
  expect(await membershipDifferences(caller)).toEqual([])
})

it('waits for changes of products that are under way, which may be putting some into it', async () => {
  const caller = aCaller()
  const { id } = await create(caller)
  const deleting = await worker.sql.begin(async (tx) => {
    await lockMembershipsShared(tx, [caller.workspaceId])
    const answer = remove(caller, id)
    await eventually('the deletion waits', async () => {
      const [waiting] = await admin`
        select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`
      return waiting !== undefined
    })
    return { answer }
  })
  expect((await deleting.answer).status).toBe(204)
})

it('another workspace’s collection is not there', async () => {
  const { id, handle } = await create(aCaller())
  const stranger = aCaller()
  for (const named of [id, handle]) {
    const { status, body } = await remove(stranger, named)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  }
  expect(await admin`select from collection where id = ${id}`).toHaveLength(1)
})

it('needs the scope product::delete, and takes as many statements however many members there are', async () => {
  const caller = aCaller()
  const { id } = await create(caller)
  expect((await remove({ ...caller, scopes: ['product::update'] }, id)).status).toBe(403)
  takeStatements()
  await remove(caller, id)
  expect(takeStatements().length).toBeLessThanOrEqual(8)
})
