import { setTimeout as pause } from 'node:timers/promises'
import type { Product } from '@backoffice/contracts/product.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import postgres from 'postgres'
import { ruleSets } from '../services/collections/src/memberships/rule-sets.ts'
import { projectProducts } from '../services/collections/src/products/project-products.ts'
import { closedLoop, openLoop, percentile } from './load.ts'
import { stateOf, statePublisher } from './product-states.ts'
import { rawSender } from './raw-sql.ts'
import { type CollectionPlace, PRODUCTS, type SeededCollection } from './seed-product-projection.ts'
import type { Row } from './table.ts'

const [WARM_UP, PER_SECOND, SECONDS] = [200, 200, 30]
const RECORDED = 200
const LOOK_EVERY_MS = 20
const SHOWN_WITHIN_MS = 60_000

/** A product that moves to the next category, and so to the collection of that category. */
interface Change {
  readonly state: ProductState
  /** The id of its new collection. */
  readonly destination: string
}

/**
 * The time from sending a product's change to Kafka until a query finds the product in its new collection, beside the
 * statements of such a change sent directly. The query looks for the changed products by an index every 20 ms, so the
 * figures are up to 20 ms too high.
 */
export async function measureCollectionChanges(
  place: CollectionPlace,
  collections: readonly SeededCollection[],
): Promise<Row[]> {
  const changes = await someChanges(place, collections, WARM_UP + RECORDED + PER_SECOND * SECONDS)
  await publishAndWatch(place, changes.splice(0, WARM_UP))
  const recorded = await recordChanges(place, changes.splice(0, RECORDED))
  const latencies = await publishAndWatch(place, changes)
  const raw = rawSender(place.workerUrl, 1)
  const floor = await closedLoop(recorded.length, 1, (index) => raw.send(recorded[index] ?? []))
  await raw.stop()
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
  const among = `${collections.length} SMART collections and ${PRODUCTS.toLocaleString('en')} products`
  return [
    {
      name: `product changed → membership changed, ${PER_SECOND}/s, ${among}`,
      measured: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
      floor: `p99 ${floor.p99.toFixed(1)} ms`,
      ratio: p99 / floor.p99,
      bound: 'p99 ≤ 1000 ms',
    },
  ]
}

/** Changes of different products, picked at random. */
async function someChanges(
  { postgresUrl, workspaceId }: CollectionPlace,
  collections: readonly SeededCollection[],
  count: number,
): Promise<Change[]> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined })
  const products = await sql<{ version: number; body: Product }[]>`
    select version::integer, body from collections.product where workspace_id = ${workspaceId} order by random() limit ${count}`
  await sql.end()
  const indexes = new Map(collections.map(({ category }, index) => [category.id, index]))
  return products.map(({ version, body }) => {
    const current = indexes.get(body.categories[0]?.id ?? '') ?? 0
    const next = collections[(current + 1) % collections.length]
    if (next === undefined) throw new Error('there are no collections')
    return { state: stateOf(body, version + 1, [next.category]), destination: next.id }
  })
}

/** Publishes the changes at the rate. Returns the milliseconds of each until the membership shows it. */
async function publishAndWatch(place: CollectionPlace, changes: readonly Change[]): Promise<number[]> {
  const publisher = await statePublisher(place.description(), place.workspaceId)
  const underWay = new Map<string, { destination: string; sentAt: number }>()
  let isAllSent = false
  const sending = openLoop(changes.length, PER_SECOND, async (index) => {
    const { state, destination } = changes[index] as Change
    underWay.set(state.id, { destination, sentAt: performance.now() })
    await publisher.publish(state)
  }).finally(() => {
    isAllSent = true
  })
  const [latencies] = await Promise.all([watch(place, underWay, () => isAllSent), sending])
  await publisher.stop()
  return latencies
}

async function watch(
  { postgresUrl, workspaceId }: CollectionPlace,
  underWay: Map<string, { destination: string; sentAt: number }>,
  isAllSent: () => boolean,
): Promise<number[]> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined })
  const latencies: number[] = []
  let deadline = Number.POSITIVE_INFINITY
  while (!isAllSent() || underWay.size > 0) {
    await pause(LOOK_EVERY_MS)
    const members = await sql<{ product: string; collection: string }[]>`
      select product_id as product, collection_id as collection
      from collections.collection_member join collections.membership_version on number = version_number
      where collection_member.workspace_id = ${workspaceId} and product_id = any(${[...underWay.keys()]}::uuid[])`
    const now = performance.now()
    for (const { product, collection } of members) {
      const change = underWay.get(product)
      if (change?.destination !== collection) continue
      latencies.push(now - change.sentAt)
      underWay.delete(product)
    }
    if (isAllSent()) deadline = Math.min(deadline, now + SHOWN_WITHIN_MS)
    if (now > deadline) throw new Error(`${underWay.size} changes did not reach the membership`)
  }
  await sql.end()
  return latencies
}

class RolledBack extends Error {}

/** The statements of the consumer for each change, when each comes alone and the rules are cached. */
async function recordChanges({ workerUrl, workspaceId }: CollectionPlace, changes: readonly Change[]) {
  type Statements = Parameters<ReturnType<typeof rawSender>['send']>[0]
  let statements: Statements[number][] = []
  const onStatement = (text: string, parameters: unknown[]) => statements.push({ text, parameters })
  const db = openDatabase({ url: workerUrl, applicationName: 'bench', onStatement })
  const { handle } = projectProducts(ruleSets())
  const position = { topic: '', partition: 0, offset: '0', traceparent: undefined }
  const recorded: Statements[] = []
  for (const { state } of changes) {
    statements = []
    const record = { ...position, key: state.id, value: { workspace_id: workspaceId, data: state } }
    const apply = async (tx: postgres.TransactionSql) => {
      await handle([record], tx)
      throw new RolledBack()
    }
    await inTransaction(db.sql, apply).catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error
    })
    recorded.push(statements)
  }
  await db.stop?.()
  return recorded.slice(1)
}
