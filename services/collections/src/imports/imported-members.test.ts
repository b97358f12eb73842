import type { Collection } from '@backoffice/contracts/collection.ts'
import { appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { buildChunk } from '../memberships/build-membership-version.ts'
import { lockMembershipsShared } from '../memberships/membership-lock.ts'
import { aProductState, collectionsService } from '../testing/collections-api.ts'
import { applyImportBatches } from './importers.ts'

const service = await collectionsService()
const { create, products, productsOf, project, send, membershipDifferences } = service
const { outcomes } = appliedBatches(
  service,
  applyImportBatches(() => undefined),
)

const importing = (caller: Caller, ...rows: object[]) => outcomes(caller, 'collections', rows)
const smart = (field: string, operator: string, value: unknown) => ({
  membership_type: 'SMART',
  rules: JSON.stringify({ match: 'all', conditions: [{ field, operator, value }] }),
})

/** The collection after the builder has built all versions of its workspace. */
async function built(caller: Caller, handle: string): Promise<Collection> {
  const builder = await service.startBuilder()
  await eventually('all is built', async () => {
    const open = await service.admin`
      select from membership_version where workspace_id = ${caller.workspaceId} and state in ('BUILDING', 'RETIRED')`
    return open.length === 0
  })
  await builder.stop?.()
  expect(await membershipDifferences(caller)).toEqual([])
  return (await send<Collection>(caller, 'GET', `/v1/collections/${handle}`)).body
}

it('a SMART collection that is imported gets what its rules gather, products that change meanwhile too', async () => {
  const caller = aCaller()
  const [, cap] = await products(caller, 'Shirt', 'Cap', 'Cup')
  const row = { handle: 'c', name: 'C', published: true, sort_order: 'TITLE_ASC', ...smart('name', 'starts_with', 'c') }
  expect(await importing(caller, row, { handle: 'none', name: 'None', ...smart('stock', 'lt', 0) })).toEqual([
    'created',
    'created',
  ])
  await project(caller, aProductState({ ...cap, name: 'Hat', version: 2 }))
  await products(caller, 'Candle')
  const collection = await built(caller, 'c')
  expect(collection.product_count).toBe(2)
  expect(await productsOf(caller, collection)).toEqual(['Candle', 'Cup'])
})

it('new rules, and a new order, take effect once they are built; until then the members are those from before', async () => {
  const caller = aCaller()
  await products(caller, 'Shirt', 'Cap')
  const collection = await create(caller, {
    membership_type: 'SMART',
    sort_order: 'TITLE_ASC',
    rules: { match: 'all', conditions: [{ field: 'name', operator: 'eq', value: 'Cap' }] },
  })
  expect(await importing(caller, { handle: 'summer', ...smart('stock', 'gt', 0) })).toEqual(['updated'])
  expect(await productsOf(caller, collection)).toEqual(['Cap'])
  expect(await importing(caller, { handle: 'summer', sort_order: 'TITLE_DESC' })).toEqual(['updated'])
  expect(await productsOf(caller, collection)).toEqual(['Cap'])
  expect((await built(caller, 'summer')).product_count).toBe(2)
  expect(await productsOf(caller, collection)).toEqual(['Shirt', 'Cap'])
})

it('products that change between two chunks of a build after an import are matched with its rules, too', async () => {
  const caller = aCaller()
  const [shirt] = await products(caller, 'Shirt', 'Cap')
  const all = { match: 'all', conditions: [{ field: 'stock', operator: 'is_set' }] }
  await create(caller, { membership_type: 'SMART', rules: all })
  await products(caller, 'Candle')
  await importing(caller, { handle: 'hats', name: 'Hats', published: true, ...smart('name', 'eq', 'Hat') })
  await inTransaction(service.worker.sql, (tx) => buildChunk(tx, caller.workspaceId, 1))
  await project(caller, aProductState({ ...shirt, name: 'Hat', version: 2 }))
  expect(await productsOf(caller, await built(caller, 'hats'))).toEqual(['Hat'])
})

it('waits for changes of products under way where rows may change a membership, and only there', async () => {
  const caller = aCaller()
  const [shared, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const changing = service.worker.sql.begin(async (tx) => {
    await lockMembershipsShared(tx, [caller.workspaceId])
    shared.resolve()
    await changed.promise
  })
  await shared.promise
  expect(await importing(caller, { handle: 'plain', name: 'Plain' })).toEqual(['created'])
  const waiting = importing(caller, { handle: 'smart', name: 'Smart', ...smart('stock', 'gt', 0) })
  await eventually('the import waits', async () => {
    const waits = await service.admin`
      select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`
    return waits.length > 0
  })
  changed.resolve()
  await changing
  expect(await waiting).toEqual(['created'])
})

it('hand-picked members come back after an import has made the collection SMART and another MANUAL again', async () => {
  const caller = aCaller()
  const [shirt] = await products(caller, 'Shirt', 'Cap')
  const collection = await create(caller)
  await send(caller, 'POST', '/v1/collections/summer/products', { products: [shirt?.id] })
  await importing(caller, { handle: 'summer', ...smart('name', 'eq', 'Cap') })
  await built(caller, 'summer')
  expect(await productsOf(caller, collection)).toEqual(['Cap'])
  await importing(caller, { handle: 'summer', membership_type: 'MANUAL' })
  await built(caller, 'summer')
  expect(await productsOf(caller, collection)).toEqual(['Shirt'])
})

it('a hand-picked collection that is imported takes and shows products at once', async () => {
  const caller = aCaller()
  const [shirt] = await products(caller, 'Shirt')
  await importing(caller, { handle: 'picked', name: 'Picked', published: true })
  const added = await send(caller, 'POST', '/v1/collections/picked/products', { products: [shirt?.id] })
  expect(added.status).toBe(204)
  const { body } = await send<Collection>(caller, 'GET', '/v1/collections/picked')
  expect([body.product_count, await productsOf(caller, body)]).toEqual([1, ['Shirt']])
  expect(await membershipDifferences(caller)).toEqual([])
})

it('a collection that an import makes MANUAL for the first time keeps what is picked before it is built', async () => {
  const caller = aCaller()
  const [shirt, cap] = await products(caller, 'Shirt', 'Cap')
  const all = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
  const collection = await create(caller, { membership_type: 'SMART', rules: all })
  await importing(caller, { handle: 'summer', membership_type: 'MANUAL' })
  for (const ids of [[shirt?.id], [cap?.id, shirt?.id]]) {
    const added = await send(caller, 'POST', '/v1/collections/summer/products', { products: ids })
    expect(added.status).toBe(204)
  }
  const positions = [{ product: cap?.id, position: 0 }]
  expect((await send(caller, 'PUT', '/v1/collections/summer/products/order', { positions })).status).toBe(204)
  expect((await built(caller, 'summer')).product_count).toBe(2)
  expect(await productsOf(caller, collection)).toEqual(['Cap', 'Shirt'])
})

it('members are built anew only where rules, type or order change', async () => {
  const caller = aCaller()
  const row = { handle: 'c', name: 'C', sort_order: 'TITLE_ASC', published: true, ...smart('stock', 'gt', 0) }
  await importing(caller, row, { handle: 'picked', name: 'Picked', sort_order: 'TITLE_ASC' })
  await built(caller, 'c')
  const versions = () => service.admin`
    select number from membership_version where workspace_id = ${caller.workspaceId} order by number`
  const shown = await versions()
  await importing(caller, { ...row, name: 'D' }, { handle: 'picked', name: 'P', sort_order: 'TITLE_ASC', rules: '{}' })
  expect(await versions()).toEqual(shown)
})

it('rules on a row of a hand-picked collection are ignored (spec: Collection input)', async () => {
  const caller = aCaller()
  await products(caller, 'Shirt')
  await create(caller)
  const rows = [
    { handle: 'summer', rules: 'no JSON' },
    { handle: 'new', name: 'New', rules: '{}' },
  ]
  expect(await importing(caller, ...rows)).toEqual(['updated', 'created'])
  expect((await built(caller, 'summer')).product_count).toBe(0)
})
