import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { consumer } from '@backoffice/messaging/consumers/consumer.ts'
import type { Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { aTopic, silent, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { openSession } from '@backoffice/postgres/lock-session.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, it } from 'vitest'
import { ruleSets } from '../memberships/rule-sets.ts'
import { aProductState, collectionsService } from '../testing/collections-api.ts'
import { projectProducts } from './project-products.ts'
import { queueProducts } from './queue-products.ts'
import type { UnreadableRecord } from './read-states.ts'
import { rebuildProjection } from './rebuild.ts'
import { recordOf } from './testing/projection.ts'

const LETTERS = deadLetterTopic('collections.products')
const { admin, worker, workerUrl, send, create, project, productsOf, startBuilder, startQueue, membershipDifferences } =
  await collectionsService()
await startBuilder()

/** Each test has a topic and a service of its own. */
let prefix: string
let kafka: Kafka
let open: () => Kafka
beforeEach(async () => {
  ;({ prefix, kafka, open } = await testKafka([aTopic(TOPICS.catalogProducts), aTopic(LETTERS)]))
  await admin`truncate product, deleted_product, queued_product, collection, membership_version, rule_version, collection_member, collection_member_count`
})

const publish = ({ workspaceId }: Caller, ...products: (ProductState | string)[]) =>
  kafka.produce(products.map((product) => recordOf({ workspaceId, product })))

/** Publishes products of a new workspace and consumes them. Returns its caller. */
async function publishAndConsume(...products: ProductState[]): Promise<Caller> {
  const caller = aCaller()
  await publish(caller, ...products)
  await project(caller, ...products)
  return caller
}

const changed = (state: ProductState, differences: Partial<ProductState>): ProductState => ({
  ...state,
  version: state.version + 1,
  ...differences,
})

async function rebuild(connection = open(), onUnreadable = (one: UnreadableRecord): void => expect.fail(one.reason)) {
  const sql = openSession({ url: workerUrl }, 'test rebuild', () => undefined)
  const rebuilt = await rebuildProjection(connection, sql, onUnreadable)
  await sql.end()
  await allBuilt()
  return rebuilt
}

const allBuilt = () =>
  eventually('all is built, and what is over deleted', async () => {
    const [row] = await admin`select from membership_version where state in ('BUILDING', 'RETIRED') limit 1`
    return row === undefined
  })

/** A Kafka connection that calls a function between the start of a rebuild and its first read. */
const withKafka = (before: () => Promise<unknown>): Kafka => {
  const real = open()
  let isFirst = true
  return {
    ...real,
    offsetsAt: async (...range) => {
      const offsets = await real.offsetsAt(...range)
      if (isFirst) await before()
      isFirst = false
      return offsets
    },
  }
}

/** The projection of a service that has read the topic from the beginning. */
const rows = () =>
  admin`
    select workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping,
      can_preorder, created_at, body::text
    from product order by id`

const everything = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 0 }] }
const smart = { membership_type: 'SMART', rules: everything, sort_order: 'STOCK_DESC' }

/** The records in the topic: a publisher that gets no answer in time publishes again. */
async function published(): Promise<number> {
  const offsetsAt = (time: number) => kafka.offsetsAt([TOPICS.catalogProducts], new Date(time))
  const [first, end] = [await offsetsAt(0), await offsetsAt(Date.now() + 86_400_000)]
  return [...end].reduce((sum, [partition, offset]) => sum + offset - (first.get(partition) ?? 0), 0)
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => aProductState({ name: `Product ${n}`, total_stock: n }))

it('brings back an emptied projection, and what was picked by hand stays where it was', async () => {
  const products = numbered(30)
  const caller = await publishAndConsume(...products)
  const [ruled, picked] = [await create(caller, smart), await create(caller)]
  const ids = products.map(({ id }) => id).reverse()
  await send(caller, 'POST', `/v1/collections/${picked.id}/products`, { products: ids })
  const before = [await rows(), await productsOf(caller, ruled), await productsOf(caller, picked)]
  await admin`truncate product`
  await send(caller, 'PUT', `/v1/collections/${picked.id}`, { sort_order: 'TITLE_ASC' })
  await send(caller, 'PUT', `/v1/collections/${picked.id}`, { sort_order: 'MANUAL' })
  expect(await rebuild()).toMatchObject({ read: await published(), changed: 30, deleted: 0, collections: 2 })
  expect([await rows(), await productsOf(caller, ruled), await productsOf(caller, picked)]).toEqual(before)
  expect(await membershipDifferences()).toEqual([])
})

it('makes a projection with any kind of error equal to the topic', async () => {
  const products = numbered(8)
  const [wrongStock, wrongBody, stale, ahead, missing, fine] = products as [
    ProductState,
    ...ProductState[],
  ] as ProductState[]
  const caller = await publishAndConsume(...products)
  const newer = changed(stale as ProductState, { name: 'Newer', total_stock: 100 })
  await publish(caller, newer)
  const collection = await create(caller, smart)
  await project(caller, newer)
  const before = await rows()
  await project(caller, stale as ProductState)

  const notInTopic = aProductState({ name: 'Not in the topic' })
  await project(caller, notInTopic)
  await admin`update product set stock = 77 where id = ${wrongStock?.id ?? ''}`
  await admin`update product set body = '{"name": "wrong"}' where id = ${wrongBody?.id ?? ''}`
  await admin`update product set version = 1, name = 'old', stock = 3 where id = ${newer.id}`
  await admin`update product set version = 99, name = 'ahead' where id = ${ahead?.id ?? ''}`
  await admin`delete from product where id = ${missing?.id ?? ''}`
  await admin`delete from collection_member where product_id = ${fine?.id ?? ''}`

  expect(await rebuild()).toMatchObject({ read: await published(), deleted: 1 })
  expect(await rows()).toEqual(before)
  expect(await productsOf(caller, collection)).not.toContain('Ghost')
  expect(await membershipDifferences()).toEqual([])
})

it('writes nothing where the projection is equal to the topic already', async () => {
  await publishAndConsume(...numbered(20))
  const before = await admin`select id, xmin, xmax from product order by id`
  expect(await rebuild()).toMatchObject({ read: await published(), changed: 0, deleted: 0 })
  expect(await admin`select id, xmin, xmax from product order by id`).toEqual(before)
})

it('has a partition alone before it writes, and so does not meet the service there', async () => {
  const products = numbered(5)
  await publish(await publishAndConsume(), ...products, products[0]?.id ?? '')
  const statements: string[] = []
  const { sql, stop } = openDatabase({
    url: workerUrl,
    applicationName: 'statements',
    poolSize: 1,
    onStatement: (text) => statements.push(text.trim().replaceAll(/\s+/g, ' ')),
  })
  await rebuildProjection(open(), sql, (one) => expect.fail(one.reason))
  await stop?.()
  const batches = statements.join('; ').split('begin').slice(1)
  const writing = batches.filter((text) => text.includes('insert into product'))
  expect(writing.length).toBeGreaterThan(0)
  for (const text of writing) expect(text).toMatch(/^[ ;]*select pg_advisory_xact_lock\(/)
})

it('never takes a product back to an older state while it reads those', async () => {
  const product = aProductState()
  const states = Array.from({ length: 50 }, (_, n) => ({ ...product, version: n + 1, total_stock: n }))
  await publishAndConsume(...states)
  const [before] = await admin`select xmin from product`
  await rebuild()
  expect(await admin`select xmin from product`).toEqual([before])
})

it('keeps states that the service consumes after the start', async () => {
  const [known, gone] = [aProductState({ name: 'Known' }), aProductState({ name: 'Gone' })]
  const caller = await publishAndConsume(known, gone)
  const collection = await create(caller, smart)
  await admin`truncate product`
  const late = aProductState({ name: 'Late', total_stock: 9 })
  await rebuild(
    withKafka(async () => {
      // The emptied projection does not have the deleted product.
      await project(caller, late, changed(known, { name: 'Changed', total_stock: 50 }), gone.id)
    }),
  )
  expect(await productsOf(caller, collection)).toEqual(['Changed', 'Late'])
  expect(await membershipDifferences()).toEqual([])
})

it('takes no product for gone of which compaction has dropped all states but one that came since the start', async () => {
  const product = aProductState({ name: 'Before' })
  const caller = await publishAndConsume(aProductState())
  await project(caller, product)
  const picked = await create(caller)
  await send(caller, 'POST', `/v1/collections/${picked.id}/products`, { products: [product.id] })
  await rebuild(withKafka(() => publish(caller, changed(product, { name: 'After' }))))
  expect(await productsOf(caller, picked)).toEqual(['After'])
  expect(await membershipDifferences()).toEqual([])
})

it('forgets queued products: it reads their states from the topic, which may have none', async () => {
  const [known, notInTopic] = [aProductState({ name: 'Known' }), aProductState({ name: 'Not in the topic' })]
  const caller = await publishAndConsume()
  await publish(caller, known)
  const queued = [known, notInTopic].map((data) => ({ workspace_id: caller.workspaceId, data }))
  await inTransaction(worker.sql, (tx) =>
    queueProducts(
      tx,
      0,
      queued.map((state) => ({ workspaceId: caller.workspaceId, id: state.data.id, state })),
    ),
  )
  expect(await rebuild()).toMatchObject({ read: 1, changed: 1 })
  expect(await admin`select from queued_product`).toHaveLength(0)
  expect((await rows()).map(({ id }) => id)).toEqual([known.id])
})

it('deletes products with a tombstone, and their hand-picked members from before the deletion', async () => {
  const [kept, deleted] = [aProductState({ name: 'Kept' }), aProductState({ name: 'Deleted' })]
  const caller = await publishAndConsume(kept, deleted)
  const picked = await create(caller)
  await send(caller, 'POST', `/v1/collections/${picked.id}/products`, { products: [deleted.id, kept.id] })
  await admin`truncate product`
  await publish(caller, deleted.id)
  await project(caller, deleted.id)
  await rebuild()
  expect(await productsOf(caller, picked)).toEqual(['Kept'])
  expect(await admin`select from collection_member where product_id = ${deleted.id}`).toHaveLength(0)
  expect(await membershipDifferences()).toEqual([])
})

it('reports an unreadable record and keeps its product and memberships as they are', async () => {
  const product = aProductState({ name: 'As it was' })
  const caller = aCaller()
  const broken = changed(product, { variants: 'none' as unknown as [] })
  await publish(caller, broken)
  await project(caller, product)
  const picked = await create(caller)
  await send(caller, 'POST', `/v1/collections/${picked.id}/products`, { products: [product.id] })
  const unreadable: UnreadableRecord[] = []
  const rebuilt = await rebuild(open(), (one) => unreadable.push(one))
  expect(rebuilt).toMatchObject({ read: 1, unreadable: 1, deleted: 0 })
  expect(unreadable).toEqual([
    { partition: expect.any(Number), offset: '0', key: product.id, reason: expect.stringContaining('data.variants: ') },
  ])
  expect(await productsOf(caller, picked)).toEqual(['As it was'])
})

/** Runs the command in a process of its own. */
function rebuildProcess(...options: string[]) {
  const child = spawn(process.execPath, [fileURLToPath(new URL('rebuild.ts', import.meta.url)), ...options], {
    env: {
      ...process.env,
      WORKER_DATABASE_URL: workerUrl,
      KAFKA_BROKERS: backingServices().kafkaBrokers.join(','),
      KAFKA_PREFIX: prefix,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const ended = once(child, 'exit').then(([code]) => ({ code, output }))
  return { child, ended }
}

it('refuses a topic without any record while there are products, unless it is told to delete them', async () => {
  await project(aCaller(), ...numbered(3))
  const { code, output } = await rebuildProcess().ended
  expect([code, output]).toEqual([2, expect.stringMatching(/^catalog\.products has no record: /)])
  expect(await rows()).toHaveLength(3)
  expect(await rebuildProcess('--allow-empty-topic').ended).toMatchObject({ code: 0 })
  expect(await rows()).toEqual([])
  expect(await rebuildProcess().ended).toMatchObject({ code: 0 })
})

it('can be killed in the middle and repeated, under changes, with the service running', async () => {
  const products = numbered(6000)
  const caller = aCaller()
  for (let n = 0; n < products.length; n += 1000) await publish(caller, ...products.slice(n, n + 1000))
  const reader = consumer(projectProducts(ruleSets()), {
    kafka: open(),
    db: worker,
    logger: silent,
    fatal: (reason) => expect.fail(String(reason)),
  })
  await reader.start()
  whenDone(() => reader.stop())
  await startQueue()
  const count = async () => Number((await admin`select count(*) from product`)[0]?.count)
  await eventually('all are projected', async () => (await count()) === products.length)
  const collection = await create(caller, smart)
  await allBuilt()
  await admin`delete from product where stock % 2 = 0`
  await admin`update product set stock = stock + 1`

  let isOver = false
  const changes = (async () => {
    for (let n = 0; !isOver; n++) {
      const index = Math.floor(Math.random() * products.length)
      const next = changed(products[index] as ProductState, { total_stock: 10_000 + n })
      products[index] = next
      await publish(caller, next)
    }
  })()
  // Seconds for a rebuild that takes less than one, so that it is killed before its end.
  await admin.unsafe(`
    create function wait_a_second() returns trigger language plpgsql as 'begin perform pg_sleep(1); return null; end';
    create trigger slowly before insert on product for each statement execute function wait_a_second()`)
  const killed = rebuildProcess()
  await eventually('some have come back', async () => (await count()) > 3000)
  killed.child.kill('SIGKILL')
  await killed.ended
  await admin`drop trigger slowly on product`
  expect(await count()).toBeLessThan(products.length)

  const { code, output } = await rebuildProcess().ended
  isOver = true
  await changes
  expect([code, output]).toEqual([0, expect.stringMatching(/^records read: \d+, unreadable: 0\nproducts changed: \d/)])
  await eventually('the last changes are projected', async () => {
    const found = await admin<{ id: string; version: number }[]>`select id, version::integer as version from product`
    const versions = new Map(found.map(({ id, version }) => [id, version]))
    return products.every(({ id, version }) => versions.get(id) === version)
  })
  await allBuilt()
  const members =
    await admin`select from collection_member join membership_version on number = version_number where collection_id = ${collection.id}`
  expect(members).toHaveLength(products.length)
  expect(await membershipDifferences()).toEqual([])
})
