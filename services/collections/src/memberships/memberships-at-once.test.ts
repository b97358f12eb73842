import { setImmediate as turn } from 'node:timers/promises'
import type { Collection } from '@backoffice/contracts/collection.ts'
import { SORT_ORDERS } from '@backoffice/contracts/collection.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { isLockTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { applyQueuedProducts } from '../products/apply-queued-products.ts'
import { rebuildMemberships } from '../products/rebuild-memberships.ts'
import { projector } from '../products/testing/projection.ts'
import { aProductState, collectionsService } from '../testing/collections-api.ts'
import { buildChunk } from './build-membership-version.ts'
import { deleteFromRetiredVersion } from './membership-builder.ts'
import { lockMembershipsExclusive } from './membership-lock.ts'
import { ruleSets } from './rule-sets.ts'

const { admin, workerUrl, send, create, membershipDifferences } = await collectionsService()
const worker = openDatabase({ url: workerUrl, applicationName: 'at once', poolSize: 10 })
whenDone(() => worker.stop?.())
await admin`create table topic_product (id uuid)`
await admin`grant select on topic_product to collections_worker`

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

/** Calls `project` again after each lock timeout, as a consumer does: it has changed nothing. */
async function repeated(project: () => Promise<unknown>): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = await project().then(
      () => true,
      (error) => {
        if (!isLockTimeout(error)) throw error
        return false
      },
    )
  }
}

/** Acts as the consumer of a partition: products change and are deleted, with late and repeated records. */
async function changeProducts(partition: number, partitions: number, rounds: number): Promise<void> {
  const project = projector(worker.sql)
  for (let round = 0; round < rounds; round++) {
    const own = products.filter((_, n) => n % partitions === partition)
    const before = some(own, 1 + upTo(20))
    const after = new Map(before.map((state) => [state.id, changedSomehow(state)]))
    products = products.map((state) => after.get(state.id) ?? state)
    const deleted = round % 10 === 0 ? [pick(own).id] : []
    products = products.filter(({ id }) => !deleted.includes(id))
    const published = [...after.values(), ...deleted, ...some(before, 3)]
    const records = published.map((product) => ({ workspaceId, product }))
    await repeated(() => project(records, partition))
  }
}

let isOver = false

async function build(): Promise<void> {
  const remaining = () => admin`select from membership_version where state in ('BUILDING', 'RETIRED') limit 1`
  for (let [next] = await remaining(); next !== undefined || !isOver; [next] = await remaining()) {
    await deleteFromRetiredVersion(worker.sql, 40)
    if (next === undefined) await turn()
    else {
      await inTransaction(worker.sql, async (tx) => {
        await lockMembershipsExclusive(tx, workspaceId)
        await buildChunk(tx, workspaceId, 37)
      })
    }
  }
}

/** Random requests. None may be answered with a server error. */
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
    () => rebuildMemberships(worker.sql),
  ]
  for (let round = 0; round < ROUNDS; round++) {
    if (collections.length < 12) {
      const type = pick([{ membership_type: 'SMART', rules: someRules() }, {}])
      collections.push(await create(caller, { sort_order: pick(SORT_ORDERS), ...type }))
    }
    await pick(acts)(`/v1/collections/${pick(collections).id}`)
  }
}

it('stores the evaluated memberships after any concurrent changes', async () => {
  const deadlocks = async () =>
    (await admin`select deadlocks::integer from pg_stat_database where datname = current_database()`)[0]?.deadlocks
  await projector(worker.sql)(products.map((product) => ({ workspaceId, product })))
  const builders = [build(), build()]
  for (const each of applyQueuedProducts(worker.sql, ruleSets(), silent)) {
    await each.start?.()
    whenDone(() => each.stop?.())
  }
  const consume = (rounds: number) => [0, 1, 2].map((partition) => changeProducts(partition, 3, rounds))
  await Promise.all([...consume(ROUNDS), useApi(), useApi()])
  // No rebuild follows the last changes, so no later version can correct them.
  await rebuildMemberships(worker.sql)
  await Promise.all(consume(ROUNDS / 3))
  isOver = true
  await Promise.all(builders)
  const queued = async () => (await admin`select from queued_product`).length
  await eventually('the queue is empty', async () => (await queued()) === 0)
  expect(await membershipDifferences()).toEqual([])
  expect(await admin`select from collection_member where product_id not in (select id from product)`).toHaveLength(0)
  expect(await admin`select from product`).toHaveLength(products.length)
  expect(await deadlocks()).toBe(0)
})
