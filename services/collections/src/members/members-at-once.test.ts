import { setImmediate as turn } from 'node:timers/promises'
import type { Collection } from '@backoffice/contracts/collection.ts'
import { SORT_ORDERS } from '@backoffice/contracts/collection.ts'
import type { ProductState } from '@backoffice/contracts/product.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { aProductState, collectionsService } from '../harness.ts'
import { projector } from '../products/projection-harness.ts'
import { renewCollections } from '../products/renew-collections.ts'
import { buildChunk } from './build-generation.ts'
import { deleteSome } from './delete-members.ts'
import { lockMembershipAlone } from './membership-lock.ts'

const { admin, workerUrl, send, create, wrongs } = await collectionsService()
const worker = openDatabase({ url: workerUrl, applicationName: 'at once', poolSize: 10 })
whenDone(() => worker.stop?.())
await admin`create table seen (id uuid)`
await admin`grant select on seen to collections_worker`

const caller = aCaller()
const { workspaceId } = caller
const PRODUCTS = 300
const ROUNDS = 60

const pick = <One>(from: readonly One[]): One => from[Math.floor(Math.random() * from.length)] as One
const some = <One>(from: readonly One[], count: number): One[] => Array.from({ length: count }, () => pick(from))
const upTo = (count: number) => Math.floor(Math.random() * count)

const someRules = () => ({
  match: pick(['all', 'any']),
  conditions: some(
    [
      { field: 'stock', operator: pick(['lt', 'gte']), value: upTo(100) },
      { field: 'name', operator: 'contains', value: String(upTo(10)) },
      { field: 'status', operator: pick(['eq', 'ne']), value: pick(['ACTIVE', 'HIDDEN']) },
      { field: 'price.EUR', operator: 'lte', value: upTo(1000) },
    ],
    1 + upTo(3),
  ),
})

let products: ProductState[] = Array.from({ length: PRODUCTS }, (_, n) => aProductState({ name: `Product ${n}` }))

const changedSomehow = (state: ProductState): ProductState => ({
  ...state,
  version: state.version + 1,
  name: pick([state.name, `Product ${upTo(1000)}`]),
  status: pick(['ACTIVE', 'ACTIVE', 'HIDDEN']),
  total_stock: upTo(100),
  variants: state.variants.map((variant) => ({ ...variant, price: { EUR: upTo(1000) } })),
})

/** The consumer of a partition: its products change, go, and are told late and again. */
async function changeProducts(partition: number, partitions: number, rounds: number): Promise<void> {
  const project = projector(worker.sql)
  for (let round = 0; round < rounds; round++) {
    const own = products.filter((_, n) => n % partitions === partition)
    const before = some(own, 1 + upTo(20))
    const after = new Map(before.map((state) => [state.id, changedSomehow(state)]))
    products = products.map((state) => after.get(state.id) ?? state)
    const deleted = round % 10 === 0 ? [pick(own).id] : []
    products = products.filter(({ id }) => !deleted.includes(id))
    const told = [...after.values(), ...deleted, ...some(before, 3)]
    await project(
      told.map((product) => ({ workspaceId, product })),
      partition,
    )
  }
}

let isOver = false

async function build(): Promise<void> {
  const remaining = () => admin<{ state: string; collectionId: string }[]>`
    select state, collection_id as "collectionId" from generation where state in ('BUILDING', 'OLD') order by random() limit 1`
  for (let [next] = await remaining(); next !== undefined || !isOver; [next] = await remaining()) {
    await deleteSome(worker.sql, 40)
    const { collectionId } = next ?? {}
    if (collectionId === undefined) await turn()
    else {
      await inTransaction(worker.sql, async (tx) => {
        await lockMembershipAlone(tx, workspaceId)
        await buildChunk(tx, { workspaceId, collectionId }, 37)
      })
    }
  }
}

/** What merchants do; whatever a call is answered, it is none that the service is at fault for. */
async function useApi(): Promise<void> {
  const collections: Collection[] = []
  const call = async (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) =>
    expect((await send(caller, method, path, body)).status).toBeLessThan(500)
  const acts: ((path: string) => Promise<unknown>)[] = [
    (path) => call('PUT', path, { sort_order: pick(SORT_ORDERS) }),
    (path) => call('PUT', path, { membership_type: 'SMART', rules: someRules() }),
    (path) => call('PUT', path, { membership_type: 'MANUAL' }),
    (path) => call('POST', `${path}/products`, { products: some(products, 20).map(({ id }) => id) }),
    (path) => call('DELETE', `${path}/products`, { products: some(products, 10).map(({ id }) => id) }),
    (path) =>
      call('PUT', `${path}/products/order`, { positions: [{ product: pick(products).id, position: upTo(50) }] }),
    (path) => call('DELETE', path),
    () => renewCollections(worker.sql),
  ]
  for (let round = 0; round < ROUNDS; round++) {
    if (collections.length < 12) {
      const type = pick([{ membership_type: 'SMART', rules: someRules() }, {}])
      collections.push(await create(caller, { sort_order: pick(SORT_ORDERS), ...type }))
    }
    await pick(acts)(`/v1/collections/${pick(collections).id}`)
  }
}

it('ends with the members that a fresh evaluation finds, whatever happens at once', async () => {
  const deadlocks = async () =>
    (await admin`select deadlocks::integer from pg_stat_database where datname = current_database()`)[0]?.deadlocks
  await projector(worker.sql)(products.map((product) => ({ workspaceId, product })))
  const builders = [build(), build()]
  const consume = (rounds: number) => [0, 1, 2].map((partition) => changeProducts(partition, 3, rounds))
  await Promise.all([...consume(ROUNDS), useApi(), useApi()])
  // What changes while a generation is built, and after it, has nothing to put it right.
  await renewCollections(worker.sql)
  await Promise.all(consume(ROUNDS / 3))
  isOver = true
  await Promise.all(builders)
  expect(await wrongs()).toEqual([])
  expect(await admin`select from member where product_id not in (select id from product)`).toHaveLength(0)
  expect(await admin`select from product`).toHaveLength(products.length)
  expect(await deadlocks()).toBe(0)
})
