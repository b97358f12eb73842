import type { Collection } from '@backoffice/contracts/collection.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { v7 as uuidv7 } from 'uuid'
import { afterEach, expect, it } from 'vitest'
import { aProductState, collectionsService } from '../testing/collections-api.ts'
import { membershipBuilder } from './membership-builder.ts'
import { lockMembershipsShared } from './membership-lock.ts'

const { admin, worker, send, project, membershipDifferences } = await collectionsService()

/** The first chunk has 5,000 products. */
const MORE_THAN_A_CHUNK = 5001

const everything = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 0 }] }

/** Inserts products into the projection only. */
const seed = ({ workspaceId }: Caller, count: number) => admin`
  insert into product (
    workspace_id, id, version, name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping, can_preorder,
    created_at, body
  )
  select ${workspaceId}, uuidv7(), 1, 'name', '', 'SIMPLE_PRODUCT', 'ACTIVE', '{}', '{}', '{}', '{}', n, true, false, now(), '{}'
  from generate_series(1, ${count}) as n`

/** Inserts a version that is BUILDING. Returns its collection's id. */
async function waiting({ workspaceId }: Caller, builtTo: string | null = null): Promise<string> {
  const id = uuidv7()
  await admin`
    insert into collection (
      workspace_id, id, handle, name, sort_order, membership_type, rules, published, created_at, updated_at
    )
    values (
      ${workspaceId}, ${id}, ${id}, 'Waiting', 'STOCK_DESC', 'SMART', ${JSON.stringify(everything)}::text::json, true, now(), now()
    )`
  await admin`
    insert into membership_version (workspace_id, collection_id, source, rules, sort_order, state, processed_to)
    values (
      ${workspaceId}, ${id}, 'RULES', ${JSON.stringify(everything)}::text::json, 'STOCK_DESC', 'BUILDING', ${builtTo}
    )`
  return id
}

const warnings: unknown[] = []
const logger = createLogger('test', 'silent')
logger.warn = (details: unknown) => void warnings.push(details)
const replicas: ReturnType<typeof membershipBuilder>[] = []
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()))
  warnings.length = 0
})

async function startReplica() {
  const builder = membershipBuilder(worker.sql, logger)
  replicas.push(builder)
  await builder.start()
}

const allBuilt = () =>
  eventually('all is built', async () => {
    const [row] = await admin`select from membership_version where state <> 'CURRENT' limit 1`
    return row === undefined
  })

/** Collections in the order in which their versions became CURRENT. */
const shownInOrder = async () =>
  (await admin<{ id: string }[]>`select collection_id as id from membership_version order by xmin::text::bigint`).map(
    ({ id }) => id,
  )

it('replicas build together, in several workspaces and in one, without being in each other’s way', async () => {
  const callers = [aCaller(), aCaller(), aCaller()]
  for (const caller of callers) {
    await seed(caller, MORE_THAN_A_CHUNK)
    await waiting(caller)
    await waiting(caller)
  }
  await Promise.all([startReplica(), startReplica(), startReplica()])
  await allBuilt()
  for (const caller of callers) expect(await membershipDifferences(caller)).toEqual([])
  const counts = await admin`select count(*)::integer from collection_member group by workspace_id, version_number`
  expect(counts).toEqual(Array.from({ length: 6 }, () => ({ count: MORE_THAN_A_CHUNK })))
  expect(warnings).toEqual([])
})

it('a workspace with many collections to build keeps no other one waiting', async () => {
  await admin`truncate collection, membership_version, collection_member, collection_member_count`
  const [many, one] = [aCaller(), aCaller()]
  for (let n = 0; n < 20; n++) await waiting(many)
  const other = await waiting(one)
  await startReplica()
  await allBuilt()
  expect((await shownInOrder()).slice(0, 2)).toContain(other)
})

it('a workspace whose lock stays taken keeps no other one waiting', async () => {
  await admin`truncate collection, membership_version, collection_member, collection_member_count`
  const [stuck, other] = [aCaller(), aCaller()]
  await waiting(stuck)
  await waiting(other)
  await admin.begin(async (tx) => {
    await lockMembershipsShared(tx, [stuck.workspaceId])
    await startReplica()
    await eventually('the other one is built', async () => {
      const [row] = await admin`
        select from membership_version where workspace_id = ${other.workspaceId} and state = 'CURRENT'`
      return row !== undefined
    })
    await eventually('the stuck one was left out', async () => warnings.length > 0)
    expect(warnings[0]).toMatchObject({ worker: 'membership builder', workspace_id: stuck.workspaceId })
  })
  await allBuilt()
})

it('what a request has begun comes before what is to be made anew', async () => {
  await admin`truncate collection, membership_version, collection_member, collection_member_count`
  const caller = aCaller()
  for (let n = 0; n < 20; n++) await waiting(caller)
  const begun = await waiting(caller, uuidv7())
  await startReplica()
  await allBuilt()
  expect((await shownInOrder()).indexOf(begun)).toBe(0)
})

it('a chunk that cannot be done is tried again as a smaller one', async () => {
  await admin`truncate collection, membership_version, collection_member, collection_member_count, product`
  await admin.unsafe(`
    create function refuse_many() returns trigger language plpgsql as $$
    begin
      if (select count(*) from added) > 40 then raise exception 'too many at once'; end if;
      return null;
    end
    $$;
    create trigger refuse_many after insert on collection_member
      referencing new table as added for each statement execute function refuse_many()`)
  whenDone(() => admin`drop function refuse_many cascade`)
  const caller = aCaller()
  await seed(caller, 100)
  await waiting(caller)
  await startReplica()
  await allBuilt()
  expect(warnings.length).toBeGreaterThan(0)
  expect(await admin`select from collection_member`).toHaveLength(100)
})

it('rules that take too long over the first products are left to the builder, which takes a few products at a time', async () => {
  await admin`truncate collection, membership_version, collection_member, collection_member_count, product`
  await admin.unsafe(`
    create function wait_for_many() returns trigger language plpgsql as $$
    begin
      if (select count(*) from added) > 40 then perform pg_sleep(60); end if;
      return null;
    end
    $$;
    create trigger wait_for_many after insert on collection_member
      referencing new table as added for each statement execute function wait_for_many()`)
  whenDone(() => admin`drop function wait_for_many cascade`)
  const caller = aCaller()
  await seed(caller, 100)
  const smart = { name: 'Summer', membership_type: 'SMART', rules: everything }
  const { status, body } = await send<Collection>(caller, 'POST', '/v1/collections', smart)
  expect([status, body.product_count]).toEqual([201, 0])
  const changed = await send<Collection>(caller, 'PUT', `/v1/collections/${body.id}`, { sort_order: 'STOCK_DESC' })
  expect([changed.status, changed.body.product_count]).toEqual([200, 0])
  await startReplica()
  await allBuilt()
  expect(await admin`select from collection_member`).toHaveLength(100)
  expect(await membershipDifferences(caller)).toEqual([])
}, 45_000)

it('deletes the members of RETIRED versions in chunks, and then the versions', async () => {
  await admin`truncate collection, membership_version, collection_member, collection_member_count, product`
  const caller = aCaller()
  await seed(caller, 10_001)
  await waiting(caller)
  await startReplica()
  await allBuilt()
  await project(caller, aProductState())
  await admin`update membership_version set state = 'RETIRED'`
  await eventually('nothing is left', async () => (await admin`select from membership_version`).length === 0)
  expect(await admin`select from collection_member`).toHaveLength(0)
  expect(await admin`select from collection_member_count`).toHaveLength(0)
})
