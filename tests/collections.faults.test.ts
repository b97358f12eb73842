import { setTimeout as pause } from 'node:timers/promises'
import type { Collection } from '@backoffice/contracts/collection.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { randomFrom } from '@backoffice/testing/random.ts'
import { expect, it } from 'vitest'
import type { Answer } from './testing/api.ts'
import { backofficeIn } from './testing/backoffice.ts'
import { ownBroker } from './testing/own-broker.ts'
import { aProduct } from './testing/products.ts'
import { startStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

const kafka = await ownBroker()
const stack = await startStack({ KAFKA_BROKERS: kafka.brokers.join(','), KAFKA_PREFIX: '' })
const { api, id: workspaceId } = await newWorkspace(stack.description())

const SEEDED = 100_000
const CHANGED = 60
const OUTAGE_MS = 10_000
const RECOVERY_MS = 60_000

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9))
console.log(`SEED=${seed} kills at the same moments`)
const random = randomFrom(seed)
const upTo = (count: number) => Math.floor(random() * count)

/** Inserts products into the projection only: a large workspace without the work of the catalog. */
await stack.sql`
  insert into collections.product (
    workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping, can_preorder,
    created_at, body
  )
  select ${workspaceId}, uuidv7(make_interval(hours => -1)), 1, 'seeded ' || n, '', 'SIMPLE_PRODUCT', 'ACTIVE', '{}', '{}', '{}', '{}',
    n % 1000, true, false, now(), '{}'
  from generate_series(1, ${SEEDED}) as n`
await stack.sql`analyze collections.product`

const rules = (stock: number) => ({
  match: 'all',
  conditions: [
    { field: 'stock', operator: 'gte', value: stock },
    { field: 'status', operator: 'eq', value: 'ACTIVE' },
  ],
})

/** Calls collections again until the service answers, because it is killed meanwhile. */
async function collections<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
  const deadline = performance.now() + RECOVERY_MS
  for (;;) {
    const answer = await api<Body>(method, path, body)
    // 429: the request waited 3 s for a lock and changed nothing (OP-162).
    if (answer.status < 500 && answer.status !== 429) return answer
    if (performance.now() > deadline) throw new Error(`${method} ${path} answers ${answer.status}`)
    await pause(100)
  }
}

const createSmart = async (stock: number, sort_order: string): Promise<Collection> =>
  (
    await collections<Collection>('POST', '/v1/collections', {
      ...{ name: `From ${stock}`, published: true, membership_type: 'SMART', rules: rules(stock), sort_order },
    })
  ).body

/** Kills the service and waits for its new process. */
async function killCollections(): Promise<void> {
  const { pid } = stack.description().services.collections ?? {}
  stack.kill('collections')
  await eventually('it was started again', () => stack.description().services.collections?.pid !== pid, RECOVERY_MS)
}

const createManual = async (): Promise<Collection> =>
  (await collections<Collection>('POST', '/v1/collections', { name: 'Picked', published: true })).body

/**
 * Creates, changes and deletes products of the catalog until it is stopped. Picks each new one for a collection, which
 * never refuses a product that exists, however far the projection is behind (OP-33).
 */
function startChanges(picked: Collection) {
  let isOver = false
  let count = 0
  const change = async (ids: string[]) => {
    while (!isOver) {
      count++
      const kind = upTo(10)
      const index = upTo(ids.length)
      if (kind === 0 || ids.length < CHANGED / 6) {
        const { status, body } = await api<Product>('POST', '/v1/products', aProduct({ stock: upTo(1000) }))
        expect(status).toBe(201)
        const path = `/v1/collections/${picked.id}/products`
        expect((await collections('POST', path, { products: [body.id] })).status).toBe(204)
        ids.push(body.id)
      } else if (kind === 1) {
        const [gone] = ids.splice(index, 1)
        expect((await api('DELETE', `/v1/products/${gone}`)).status).toBe(204)
      } else {
        const changes = { stock: upTo(1000), name: `Mug ${upTo(100)}`, status: upTo(4) === 0 ? 'HIDDEN' : 'ACTIVE' }
        expect((await api('PUT', `/v1/products/${ids[index]}`, changes)).status).toBe(200)
      }
      await pause(25)
    }
  }
  const products = Array.from({ length: 4 }, (): string[] => [])
  const changing = Promise.all(products.map(change))
  return {
    count: () => count,
    /** Returns the products that are left. */
    stop: async () => {
      isOver = true
      await changing
      return products.flat()
    },
  }
}

/** The hand-picked members of a collection, shown or not. */
async function pickedFor({ id }: Collection): Promise<string[]> {
  const members = await stack.sql<{ id: string }[]>`
    select product_id as id from collections.membership_version join collections.collection_member on number = version_number
    where collection_id = ${id} and state = 'CURRENT'`
  return members.map(({ id }) => id)
}

/** Waits until the projection equals the catalog and no membership version is BUILDING or RETIRED. */
async function untilUpToDate(): Promise<void> {
  await eventually(
    'the projection equals the catalog',
    async () => {
      const [row] = await stack.sql`
        select from (select id, version from catalog.product where workspace_id = ${workspaceId}) as catalog
        full join (
          select id, version from collections.product where workspace_id = ${workspaceId} and name not like 'seeded %'
        ) as known using (id)
        where catalog.version is distinct from known.version limit 1`
      return row === undefined
    },
    RECOVERY_MS,
  )
  await eventually(
    'no version is BUILDING or RETIRED, and no product awaited',
    async () => {
      const [row] = await stack.sql`
        select from collections.membership_version where state in ('BUILDING', 'RETIRED')
        union all select from collections.awaited_product limit 1`
      return row === undefined
    },
    RECOVERY_MS,
  )
}

/** Expects each stored membership to be the evaluated one. */
async function expectRight(): Promise<void> {
  const [{ count = 0 } = {}] = await stack.sql<
    { count: number }[]
  >`select count(*)::integer from collections.collection`
  const output = await backofficeIn(stack.directory, 'checks', 'check-members')
  expect(output).toMatch(
    new RegExp(`^check-members: memberships: ${count}, members: \\d{5,}, queued: \\d+, found: 0\n$`),
  )
}

it('builds a large membership exactly, wherever it is killed and whatever changes meanwhile', async () => {
  const picked = await createManual()
  const changes = startChanges(picked)
  const small = await createSmart(990, 'TITLE_ASC')
  for (const stock of [500, 300, 700]) {
    const large = await createSmart(stock, 'STOCK_DESC')
    expect(large.product_count).toBe(0)
    await pause(random() * 500)
    await killCollections()
    await collections('PUT', `/v1/collections/${small.handle}`, { rules: rules(800 + upTo(100)) })
    await pause(random() * 500)
    await killCollections()
  }
  const left = await changes.stop()
  await untilUpToDate()
  await expectRight()
  expect((await pickedFor(picked)).toSorted()).toEqual(left.toSorted())
}, 240_000)

it('projects every change exactly, killed again and again under load', async () => {
  const picked = await createManual()
  const changes = startChanges(picked)
  for (let kill = 0; kill < 4; kill++) {
    const before = changes.count()
    await eventually('changes go on', () => changes.count() > before + 50)
    await pause(random() * 300)
    await killCollections()
  }
  const left = await changes.stop()
  await untilUpToDate()
  await expectRight()
  expect((await pickedFor(picked)).toSorted()).toEqual(left.toSorted())
}, 240_000)

it('goes on where it was when Kafka was away for 10 s', async () => {
  const picked = await createManual()
  const changes = startChanges(picked)
  await kafka.kill()
  const awayUntil = performance.now() + OUTAGE_MS
  await createSmart(100, 'CREATED_DESC')
  await pause(awayUntil - performance.now())
  await kafka.start()
  const before = changes.count()
  await eventually('changes go on', () => changes.count() > before + 100)
  const left = await changes.stop()
  await untilUpToDate()
  await expectRight()
  expect((await pickedFor(picked)).toSorted()).toEqual(left.toSorted())
}, 240_000)
