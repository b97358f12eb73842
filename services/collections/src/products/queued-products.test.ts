import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { consumer } from '@backoffice/messaging/consumers/consumer.ts'
import { aTopic, silent, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { type AnySql, openDatabase } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { lockMembershipsExclusive } from '../memberships/membership-lock.ts'
import { raiseRuleVersion, ruleSets } from '../memberships/rule-sets.ts'
import { aProductState, collectionsService } from '../testing/collections-api.ts'
import { queuedBatches } from './apply-queued-batch.ts'
import { projectProducts } from './project-products.ts'
import { projector, recordOf } from './testing/projection.ts'
import { applyProducts, lockPartition } from './write-products.ts'

const { admin, worker, workerUrl, db, create, productsOf, startQueue, membershipDifferences } =
  await collectionsService()
const projectMany = projector(worker.sql)
const sessions = openDatabase({ url: workerUrl, applicationName: 'another session' })
whenDone(() => sessions.stop?.())
/** Handles records as the consumer does: states, or the ids of deleted products. */
const project = ({ workspaceId }: Caller, ...products: (ProductState | string)[]) =>
  projectMany(products.map((product) => ({ workspaceId, product })))

beforeEach(async () => {
  await admin`truncate product, deleted_product, queued_product`
})

const everything = {
  membership_type: 'SMART',
  rules: { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 1 }] },
  sort_order: 'TITLE_ASC',
}
const later = (state: ProductState, version: number, differences: Partial<ProductState> = {}): ProductState => ({
  ...state,
  version,
  ...differences,
})

/** Does something in a transaction of another session, open until the returned function is called. */
async function inOpenTransaction(work: (tx: AnySql) => PromiseLike<unknown>) {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const ended = inTransaction(sessions.sql, async (tx) => {
    await work(tx)
    begun.resolve()
    await over.promise
  })
  await Promise.race([begun.promise, ended])
  const end = async () => {
    over.resolve()
    await ended
  }
  whenDone(end)
  return end
}

const holdMembershipLock = ({ workspaceId }: Caller) =>
  inOpenTransaction((tx) => lockMembershipsExclusive(tx, workspaceId))

const versionsOf = async (...states: { id: string }[]) => {
  const rows = await admin<{ id: string; version: number }[]>`select id, version::integer as version from product`
  const versions = new Map(rows.map(({ id, version }) => [id, version]))
  return states.map(({ id }) => versions.get(id))
}
/** Adds as many membership versions as if so many collections had rules that no product matches. */
async function addRules({ workspaceId }: Caller, count: number) {
  const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 1_000_000 }] }
  await admin`
    insert into membership_version (workspace_id, collection_id, source, rules, sort_order, state)
    select ${workspaceId}, gen_random_uuid(), 'RULES', ${JSON.stringify(rules)}::text::json, 'TITLE_ASC', 'CURRENT'
    from generate_series(1, ${count}::integer)`
  await raiseRuleVersion(admin, workspaceId)
}

const queued = async () => (await admin`select from queued_product`).length
const untilApplied = () => eventually('the queue is empty', async () => (await queued()) === 0)

describe('A workspace that cannot be served now holds up no other', () => {
  it('while the membership lock of one is held, products of others are projected at once, and its own afterwards', async () => {
    const [locked, free] = [aCaller(), aCaller()]
    const collections = [await create(locked, everything), await create(free, everything)] as const
    const release = await holdMembershipLock(locked)
    const [own, other] = [aProductState({ name: 'Own' }), aProductState({ name: 'Other' })]
    await projectMany([
      { workspaceId: locked.workspaceId, product: own },
      { workspaceId: free.workspaceId, product: other },
    ])
    expect(await versionsOf(own, other)).toEqual([undefined, 1])
    expect(await productsOf(free, collections[1])).toEqual(['Other'])
    await startQueue()
    await project(free, later(other, 2))
    expect(await versionsOf(own, other)).toEqual([undefined, 2])
    await release()
    await untilApplied()
    expect(await productsOf(locked, collections[0])).toEqual(['Own'])
    expect(await membershipDifferences(locked)).toEqual([])
  })

  it('queued products of other workspaces are applied while one stays locked', async () => {
    const [locked, free] = [aCaller(), aCaller()]
    const releases = [await holdMembershipLock(locked), await holdMembershipLock(free)] as const
    const [own, other] = [aProductState(), aProductState()]
    await project(locked, own)
    await project(free, other)
    await startQueue()
    await releases[1]()
    await eventually('the other’s is applied', async () => (await versionsOf(other))[0] === 1)
    expect(await versionsOf(own)).toEqual([undefined])
    await releases[0]()
    await untilApplied()
    expect(await versionsOf(own, other)).toEqual([1, 1])
  })

  it('a row that a request has locked keeps products of others for a moment only', async () => {
    const { kafka, open } = await testKafka([
      { ...aTopic(TOPICS.catalogProducts), partitions: 1 },
      aTopic(deadLetterTopic('collections.products')),
    ])
    const [busy, free] = [aCaller(), aCaller()]
    const own = aProductState()
    await project(busy, own)
    const release = await inOpenTransaction((tx) => tx`select from product where id = ${own.id} for update`)
    const rules = ruleSets()
    const reader = consumer(projectProducts(rules), {
      kafka: open(),
      db: worker,
      logger: silent,
      fatal: (reason) => expect.fail(String(reason)),
    })
    await reader.start()
    whenDone(() => reader.stop())
    const other = aProductState()
    await kafka.produce([
      recordOf({ workspaceId: busy.workspaceId, product: later(own, 2) }),
      recordOf({ workspaceId: free.workspaceId, product: other }),
    ])
    await eventually('both wait in the queue', async () => (await queued()) === 2)
    await startQueue()
    await eventually('the other’s is applied', async () => (await versionsOf(other))[0] === 1)
    expect(await versionsOf(own)).toEqual([1])
    await release()
    await untilApplied()
    expect(await versionsOf(own, other)).toEqual([2, 1])
  })

  it('the more rules a workspace has, the fewer of its products are compared with them in a transaction', async () => {
    const [large, small] = [aCaller(), aCaller()]
    const collection = await create(large, everything)
    await addRules(large, 1999)
    const many = Array.from({ length: 90 }, (_, n) => aProductState({ name: String(n) }))
    const one = aProductState()
    await projectMany([
      ...many.map((product) => ({ workspaceId: large.workspaceId, product })),
      { workspaceId: small.workspaceId, product: one },
    ])
    expect([await queued(), await versionsOf(one)]).toEqual([90 - 100 / 20, [1]])
    expect(await queuedBatches(worker.sql, ruleSets(), silent, 'queue')(large.workspaceId)).toBe(200 / 20)
    await startQueue()
    await untilApplied()
    expect(await productsOf(large, collection)).toHaveLength(90)
  })

  it('of many products of one workspace a transaction applies its share and queues the others', async () => {
    const [large, small] = [aCaller(), aCaller()]
    const collection = await create(large, everything)
    const many = Array.from({ length: 150 }, (_, n) => aProductState({ name: String(n) }))
    const one = aProductState()
    await projectMany([
      ...many.map((product) => ({ workspaceId: large.workspaceId, product })),
      { workspaceId: small.workspaceId, product: one },
    ])
    expect([await queued(), await versionsOf(one)]).toEqual([50, [1]])
    // Newer states overtake queued ones, which then change nothing.
    await project(large, later(many[149] as ProductState, 2))
    expect([await queued(), await versionsOf(many[149] as ProductState)]).toEqual([50, [2]])
    await startQueue()
    await untilApplied()
    expect(await versionsOf(many[0] as ProductState, many[149] as ProductState)).toEqual([1, 2])
    expect(await productsOf(large, collection)).toHaveLength(100)
    expect(await membershipDifferences(large)).toEqual([])
  })

  it('products of many variants count by these: a transaction applies few, of a workspace that is alone some more', async () => {
    const [large, small] = [aCaller(), aCaller()]
    const [variant] = aProductState().variants
    const variants = Array.from(
      { length: 1000 },
      (_, n) => ({ ...variant, sku: String(n) }) as ProductState['variants'][number],
    )
    const many = Array.from({ length: 10 }, () => ({
      workspaceId: large.workspaceId,
      product: aProductState({ variants }),
    }))
    await projectMany([...many, { workspaceId: small.workspaceId, product: aProductState() }])
    expect(await queued()).toBe(8)
    await admin`truncate product, queued_product`
    await projectMany(many)
    expect(await queued()).toBe(2)
  })
})

describe('What is applied from the queue is what the records say', () => {
  it('of several states the newest counts, in whatever order they come', async () => {
    const caller = aCaller()
    const collection = await create(caller, everything)
    const [first, second] = [aProductState({ name: 'First' }), aProductState({ name: 'Second' })]
    await project(caller, first)
    const release = await holdMembershipLock(caller)
    await project(caller, later(first, 3, { name: 'Third' }), later(second, 2, { total_stock: 0 }))
    await project(caller, later(first, 2), second)
    await project(caller, later(second, 4, { name: 'Fourth' }))
    expect(await queued()).toBe(2)
    await release()
    await startQueue()
    await untilApplied()
    expect(await productsOf(caller, collection)).toEqual(['Fourth', 'Third'])
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('a deletion counts whenever it comes, and no state brings the product back', async () => {
    const caller = aCaller()
    const collection = await create(caller, everything)
    const [known, fresh, late] = [aProductState(), aProductState(), aProductState()]
    await project(caller, known, late)
    const release = await holdMembershipLock(caller)
    await project(caller, later(known, 2), fresh)
    // `fresh` was never projected: only the queue knows its workspace.
    await project(caller, known.id, fresh.id, later(late, 2))
    await project(caller, later(known, 3), later(fresh, 3), late.id)
    expect(await versionsOf(known, fresh, late)).toEqual([1, undefined, 1])
    await release()
    await startQueue()
    await untilApplied()
    await project(caller, later(known, 4), later(fresh, 4), later(late, 4))
    expect(await versionsOf(known, fresh, late)).toEqual([undefined, undefined, undefined])
    expect(await productsOf(caller, collection)).toEqual([])
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('a queued state replaces none that is newer, as a replica of the version before may write it', async () => {
    const caller = aCaller()
    const [changed, deleted] = [aProductState(), aProductState()]
    await project(caller, changed, deleted)
    const release = await holdMembershipLock(caller)
    await project(caller, later(changed, 2), later(deleted, 2))
    await release()
    await inTransaction(worker.sql, async (tx) => {
      await lockPartition(tx, 0)
      const state = { workspace_id: caller.workspaceId, data: later(changed, 3) }
      await applyProducts(tx, ruleSets(), [
        { id: changed.id, state },
        { id: deleted.id, state: null },
      ])
    })
    await startQueue()
    await untilApplied()
    expect(await versionsOf(changed, deleted)).toEqual([3, undefined])
  })

  it('a batch that took long is followed by a smaller one, and one that was quick by a larger one', async () => {
    await admin.unsafe(`
      create function be_slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.005); return new; end $$;
      create trigger be_slow before insert on product for each row execute function be_slow()`)
    whenDone(() => admin`drop function be_slow cascade`)
    const caller = aCaller()
    const release = await holdMembershipLock(caller)
    await project(caller, ...Array.from({ length: 400 }, () => aProductState()))
    await release()
    const applyNext = queuedBatches(worker.sql, ruleSets(), silent, 'queue')
    expect(await applyNext(caller.workspaceId)).toBe(200)
    const next = Number(await applyNext(caller.workspaceId))
    expect(next).toBeLessThanOrEqual(40)
    await admin`drop trigger be_slow on product`
    for (let batch = 0; (await queued()) > 0 && batch < 100; batch++) await applyNext(caller.workspaceId)
    expect(await queued()).toBe(0)
  })

  it('a batch gives the partition up after a moment: requests of its workspace wait for the membership lock', async () => {
    const caller = aCaller()
    const release = await holdMembershipLock(caller)
    const state = aProductState()
    await project(caller, state)
    await release()
    await admin`update queued_product set queued_at = now() - interval '1 minute'`
    const [{ partition }] = await admin<[{ partition: number }]>`select partition from queued_product`
    const releasePartition = await inOpenTransaction((tx) => lockPartition(tx, partition))
    const warnings: unknown[] = []
    const logger = { ...silent, warn: (line: unknown) => void warnings.push(line) } as unknown as typeof silent
    for (const shard of [undefined, { number: 0, of: 1 }]) {
      const applyNext = queuedBatches(worker.sql, ruleSets(), logger, 'queue', shard)
      expect(await applyNext(caller.workspaceId)).toBe(0)
    }
    expect(warnings).toEqual([])
    await releasePartition()
    expect(await queuedBatches(worker.sql, ruleSets(), logger, 'queue')(caller.workspaceId)).toBe(1)
    expect(await versionsOf(state)).toEqual([1])
  })

  it('states wait while PostgreSQL is read-only, and none is set aside', async () => {
    const caller = aCaller()
    const release = await holdMembershipLock(caller)
    const states = Array.from({ length: 9 }, () => aProductState())
    await project(caller, ...states)
    await release()
    const lines: unknown[] = []
    const readOnly = openDatabase({
      url: workerUrl,
      applicationName: 'read-only',
      settings: { default_transaction_read_only: 'on' },
    })
    whenDone(() => readOnly.stop?.())
    const logger = { ...silent, warn: (line: unknown) => void lines.push(line) } as unknown as typeof silent
    const applyNext = queuedBatches(readOnly.sql, ruleSets(), logger, 'queue')
    await eventually('five tries', async () => {
      await applyNext(caller.workspaceId)
      return lines.length >= 5
    })
    expect(lines).toMatchObject(Array.from({ length: lines.length }, () => ({ err: { code: '25006' } })))
    expect(await admin`select from queued_product where refused is not null`).toHaveLength(0)
    await startQueue()
    await untilApplied()
    expect(await versionsOf(...states)).toEqual(states.map(() => 1))
  })

  it('a state that cannot be written is set aside with its reason, and a newer one takes its place', async () => {
    const caller = aCaller()
    const release = await holdMembershipLock(caller)
    const states = Array.from({ length: 9 }, () => aProductState())
    const broken = later(states[4] as ProductState, 1, { type: 'a\0b' as ProductState['type'] })
    await project(caller, ...states.with(4, broken))
    await release()
    await startQueue()
    await eventually('all but one are applied', async () => (await versionsOf(...states)).filter(Boolean).length === 8)
    const refused = () => admin`select product_id, refused from queued_product where refused is not null`
    await eventually('it is set aside', async () => (await refused()).length === 1)
    expect(await refused()).toEqual([
      { product_id: broken.id, refused: expect.stringContaining('unsupported Unicode escape') },
    ])
    await project(caller, later(broken, 2, { type: 'SIMPLE_PRODUCT' }))
    await untilApplied()
    expect(await versionsOf(broken)).toEqual([2])
  })

  it('replicas share the queue, and one whose connection is killed leaves its batch to the others', async () => {
    const callers = [aCaller(), aCaller()] as const
    const collections = await Promise.all(callers.map((caller) => create(caller, everything)))
    const releases = await Promise.all(callers.map(holdMembershipLock))
    const states = Array.from({ length: 300 }, (_, n) => aProductState({ name: String(n).padStart(3, '0') }))
    const others = states.map((state) => aProductState({ name: state.name }))
    for (const [partition, from] of [0, 100, 200].entries()) {
      const slice = (all: ProductState[], { workspaceId }: Caller) =>
        all.slice(from, from + 100).map((product) => ({ workspaceId, product }))
      await projectMany([...slice(states, callers[0]), ...slice(others, callers[1])], partition)
    }
    expect(await queued()).toBe(600)
    for (const _ of [1, 2]) await startQueue()
    await eventually('a replica waits for a lock', async () => (await lockWaiters()).length > 0)
    for (const { pid } of await lockWaiters()) await admin`select pg_terminate_backend(${pid})`
    const consuming = Promise.all(
      [0, 1, 2].map((partition) => {
        const published = states.slice(partition * 100, partition * 100 + 100)
        const newer = published.map((product) => ({ workspaceId: callers[0].workspaceId, product: later(product, 2) }))
        return projectMany(newer, partition)
      }),
    )
    await Promise.all(releases.map((release) => release()))
    await consuming
    await untilApplied()
    const versions = await versionsOf(...states, ...others)
    expect(versions).toEqual([...states.map(() => 2), ...others.map(() => 1)])
    for (const [n, caller] of callers.entries()) {
      expect(await productsOf(caller, collections[n] as { id: string })).toHaveLength(100)
      expect(await membershipDifferences(caller)).toEqual([])
    }
  })
})

const lockWaiters = () => admin<{ pid: number }[]>`
  select pid from pg_stat_activity
  where datname = current_database() and application_name = 'test worker' and wait_event = 'advisory'`

it('a workspace sees its own queued products only', async () => {
  const callers = [aCaller(), aCaller()] as const
  const release = await holdMembershipLock(callers[0])
  const product = aProductState()
  await project(callers[0], product)
  await release()
  const seen = callers.map(({ workspaceId }) =>
    db.inWorkspace({ workspaceId, livemode: true, traceparent: '' }, (tx) => tx`select product_id from queued_product`),
  )
  expect(await Promise.all(seen)).toEqual([[{ product_id: product.id }], []])
})
