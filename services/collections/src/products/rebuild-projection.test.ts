import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ProductState } from '@backoffice/contracts/product.ts'
import { consumer } from '@backoffice/messaging/consumer.ts'
import { deadLetterTopic } from '@backoffice/messaging/dead-letters.ts'
import type { Kafka } from '@backoffice/messaging/kafka-connection.ts'
import { aTopic, silent, testKafka } from '@backoffice/messaging/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { openSession } from '@backoffice/postgres/session.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { parts } from '@backoffice/testing/parts.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, it } from 'vitest'
import { aProductState, collectionsService } from '../harness.ts'
import { ruleSets } from '../members/rule-sets.ts'
import { projectProducts } from './project-products.ts'
import { recordOf } from './projection-harness.ts'
import type { Unreadable } from './read-states.ts'
import { rebuildProjection } from './rebuild-projection.ts'

const LETTERS = deadLetterTopic('collections.products')
const { admin, worker, workerUrl, send, create, project, productsOf, startBuilder, wrongs } = await collectionsService()
await startBuilder()
type Caller = ReturnType<typeof aCaller>

/** A topic, and a service that consumes it, of each test's own. */
let prefix: string
let kafka: Kafka
let open: () => Kafka
beforeEach(async () => {
  ;({ prefix, kafka, open } = await testKafka([aTopic(TOPICS.catalogProducts), aTopic(LETTERS)]))
  await admin`truncate product, deleted_product, collection, generation, rule_set, member, member_count`
})

const tell = ({ workspaceId }: Caller, ...products: (ProductState | string)[]) =>
  kafka.produce(products.map((product) => recordOf({ workspaceId, product })))

/** A workspace whose products are in the topic and in the projection. */
async function told(...products: ProductState[]): Promise<Caller> {
  const caller = aCaller()
  await tell(caller, ...products)
  await project(caller, ...products)
  return caller
}

const changed = (state: ProductState, differences: Partial<ProductState>): ProductState => ({
  ...state,
  version: state.version + 1,
  ...differences,
})

async function rebuild(connection = open(), onUnreadable = (one: Unreadable): void => expect.fail(one.reason)) {
  const sql = openSession(workerUrl, 'test rebuild', () => undefined)
  const rebuilt = await rebuildProjection(connection, sql, onUnreadable)
  await sql.end()
  await allBuilt()
  return rebuilt
}

const allBuilt = () =>
  eventually('all is built, and what is over deleted', async () => {
    const [row] = await admin`select from generation where state in ('BUILDING', 'OLD') limit 1`
    return row === undefined
  })

/** Kafka to a rebuild that has begun and has not read anything yet. */
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

/** What the projection would be, had it read the topic from the beginning. */
const rows = () =>
  admin`
    select workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping,
      can_preorder, created_at, body::text
    from product order by id`

const everything = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 0 }] }
const smart = { membership_type: 'SMART', rules: everything, sort_order: 'STOCK_DESC' }

const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => aProductState({ name: `Product ${n}`, total_stock: n }))

it('brings back an emptied projection, and what was picked by hand stays where it was', async () => {
  const products = numbered(30)
  const caller = await told(...products)
  const [ruled, picked] = [await create(caller, smart), await create(caller)]
  const ids = products.map(({ id }) => id).reverse()
  await send(caller, 'POST', `/v1/collections/${picked.id}/products`, { products: ids })
  const before = [await rows(), await productsOf(caller, ruled), await productsOf(caller, picked)]
  await admin`truncate product`
  await send(caller, 'PUT', `/v1/collections/${picked.id}`, { sort_order: 'TITLE_ASC' })
  await send(caller, 'PUT', `/v1/collections/${picked.id}`, { sort_order: 'MANUAL' })
  expect(await rebuild()).toMatchObject({ read: 30, changed: 30, deleted: 0, collections: 2 })
  expect([await rows(), await productsOf(caller, ruled), await productsOf(caller, picked)]).toEqual(before)
  expect(await wrongs()).toEqual([])
})

it('makes a projection that went wrong equal to the topic, whatever is wrong with it', async () => {
  const products = numbered(8)
  const [wrongStock, wrongBody, stale, ahead, missing, fine] = products as [
    ProductState,
    ...ProductState[],
  ] as ProductState[]
  const caller = await told(...products)
  const newer = changed(stale as ProductState, { name: 'Newer', total_stock: 100 })
  await tell(caller, newer)
  const collection = await create(caller, smart)
  await project(caller, newer)
  const before = await rows()
  await project(caller, stale as ProductState)

  const ghost = aProductState({ name: 'Ghost' })
  await project(caller, ghost)
  await admin`update product set stock = 77 where id = ${wrongStock?.id ?? ''}`
  await admin`update product set body = '{"name": "wrong"}' where id = ${wrongBody?.id ?? ''}`
  await admin`update product set version = 1, name = 'old', stock = 3 where id = ${newer.id}`
  await admin`update product set version = 99, name = 'ahead' where id = ${ahead?.id ?? ''}`
  await admin`delete from product where id = ${missing?.id ?? ''}`
  await admin`delete from member where product_id = ${fine?.id ?? ''}`

  expect(await rebuild()).toMatchObject({ read: 9, deleted: 1 })
  expect(await rows()).toEqual(before)
  expect(await productsOf(caller, collection)).not.toContain('Ghost')
  expect(await wrongs()).toEqual([])
})

it('writes nothing where the projection is equal to the topic already', async () => {
  await told(...numbered(20))
  const before = await admin`select id, xmin, xmax from product order by id`
  expect(await rebuild()).toMatchObject({ read: 20, changed: 0, deleted: 0 })
  expect(await admin`select id, xmin, xmax from product order by id`).toEqual(before)
})

it('has a partition alone before it writes, and so does not meet the service there', async () => {
  const products = numbered(5)
  await tell(await told(), ...products, products[0]?.id ?? '')
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
  await told(...states)
  const [before] = await admin`select xmin from product`
  await rebuild()
  expect(await admin`select xmin from product`).toEqual([before])
})

it('keeps what the service was told after the start, which the topic had not when it began', async () => {
  const [known, gone] = [aProductState({ name: 'Known' }), aProductState({ name: 'Gone' })]
  const caller = await told(known, gone)
  const collection = await create(caller, smart)
  await admin`truncate product`
  const late = aProductState({ name: 'Late', total_stock: 9 })
  await rebuild(
    withKafka(async () => {
      // The deletion is of a product that the emptied projection does not know.
      await project(caller, late, changed(known, { name: 'Changed', total_stock: 50 }), gone.id)
    }),
  )
  expect(await productsOf(caller, collection)).toEqual(['Changed', 'Late'])
  expect(await wrongs()).toEqual([])
})

it('takes no product for gone of which compaction has dropped all states but one that came since the start', async () => {
  const product = aProductState({ name: 'Before' })
  const caller = await told(aProductState())
  await project(caller, product)
  const picked = await create(caller)
  await send(caller, 'POST', `/v1/collections/${picked.id}/products`, { products: [product.id] })
  await rebuild(withKafka(() => tell(caller, changed(product, { name: 'After' }))))
  expect(await productsOf(caller, picked)).toEqual(['After'])
  expect(await wrongs()).toEqual([])
})

it('deletes what the topic says is deleted, also from what was picked while the projection did not know it', async () => {
  const [kept, deleted] = [aProductState({ name: 'Kept' }), aProductState({ name: 'Deleted' })]
  const caller = await told(kept, deleted)
  const picked = await create(caller)
  await send(caller, 'POST', `/v1/collections/${picked.id}/products`, { products: [deleted.id, kept.id] })
  await admin`truncate product`
  await tell(caller, deleted.id)
  await project(caller, deleted.id)
  await rebuild()
  expect(await productsOf(caller, picked)).toEqual(['Kept'])
  expect(await admin`select from member where product_id = ${deleted.id}`).toHaveLength(0)
  expect(await wrongs()).toEqual([])
})

it('tells of what nobody can read and leaves that product as it is, with its memberships', async () => {
  const product = aProductState({ name: 'As it was' })
  const caller = aCaller()
  const broken = changed(product, { variants: 'none' as unknown as [] })
  await tell(caller, broken)
  await project(caller, product)
  const picked = await create(caller)
  await send(caller, 'POST', `/v1/collections/${picked.id}/products`, { products: [product.id] })
  const unreadable: Unreadable[] = []
  const rebuilt = await rebuild(open(), (one) => unreadable.push(one))
  expect(rebuilt).toMatchObject({ read: 1, unreadable: 1, deleted: 0 })
  expect(unreadable).toEqual([
    { partition: expect.any(Number), offset: '0', key: product.id, reason: expect.stringContaining('data.variants: ') },
  ])
  expect(await productsOf(caller, picked)).toEqual(['As it was'])
})

/** The command, as a process of its own. */
function rebuildProcess() {
  const child = spawn(process.execPath, [fileURLToPath(new URL('rebuild.ts', import.meta.url))], {
    env: {
      ...process.env,
      WORKER_DATABASE_URL: workerUrl,
      KAFKA_BROKERS: parts().kafkaBrokers.join(','),
      KAFKA_PREFIX: prefix,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const ended = once(child, 'exit').then(([code]) => ({ code, output }))
  return { child, ended }
}

it('can be killed in the middle and repeated, under changes, with the service running', async () => {
  const products = numbered(6000)
  const caller = aCaller()
  for (let n = 0; n < products.length; n += 1000) await tell(caller, ...products.slice(n, n + 1000))
  const reader = consumer(projectProducts(ruleSets()), {
    kafka: open(),
    db: worker,
    logger: silent,
    fatal: (reason) => expect.fail(String(reason)),
  })
  await reader.start()
  whenDone(() => reader.stop())
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
      await tell(caller, next)
    }
  })()
  const killed = rebuildProcess()
  await eventually('some have come back', async () => (await count()) > 3500)
  killed.child.kill('SIGKILL')
  await killed.ended
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
    await admin`select from member join generation on number = generation where collection_id = ${collection.id}`
  expect(members).toHaveLength(products.length)
  expect(await wrongs()).toEqual([])
})
