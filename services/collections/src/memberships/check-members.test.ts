import { randomUUID } from 'node:crypto'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { checkRuns } from '@backoffice/service/testing/check-runs.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { queueProducts } from '../products/queue-products.ts'
import { aProductState, collectionsService } from '../testing/collections-api.ts'
import { checkMembers } from './check-members.ts'

const service = await collectionsService()
const { admin, worker, send, create, project, membershipDifferences: found } = service
const { run } = await checkRuns('collections', { 'check-members': checkMembers }, service)

const caller = aCaller()
const workspace = caller.workspaceId
const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 5 }] }
let [member, other, stranger]: ProductState[] = []
let ruleBased: string
let handPicked: string

beforeEach(async () => {
  await admin`truncate product, deleted_product, collection, membership_version, rule_version, collection_member, collection_member_count`
  member = aProductState({ name: 'Member' })
  other = aProductState({ name: 'Other', status: 'HIDDEN' })
  stranger = aProductState({ name: 'Stranger', total_stock: 1 })
  await project(caller, member, other, stranger)
  ruleBased = (await create(caller, { membership_type: 'SMART', rules: inStock, sort_order: 'TITLE_ASC' })).id
  handPicked = (await create(caller)).id
  await send(caller, 'POST', `/v1/collections/${handPicked}/products`, { products: [stranger.id, other.id] })
})

it('finds nothing where every membership is as a fresh evaluation has it, of any workspace', async () => {
  await create(aCaller(), { membership_type: 'SMART', rules: inStock })
  await create(aCaller())
  expect(await found()).toEqual([])
})

/** The number of a collection's only membership version. */
const versionOf = async (collection: string): Promise<string> => {
  const [row] = await admin<
    { number: string }[]
  >`select number from membership_version where collection_id = ${collection}`
  return row?.number ?? ''
}

/** Changes members without the triggers that count them. */
const uncounted = (change: (sql: typeof admin) => Promise<unknown>) =>
  admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await change(tx as unknown as typeof admin)
  })

describe('Finds each kind of difference', () => {
  it('a product that matches the rules and is not a member, and the wrong count', async () => {
    await uncounted((sql) => sql`delete from collection_member where product_id = ${member?.id ?? ''}`)
    expect(await found()).toEqual([
      { workspace, collection: ruleBased, kind: 'missing', product: member?.id, stored: null, expected: null },
      { workspace, collection: ruleBased, kind: 'count', stored: '1', expected: '0' },
    ])
  })

  it('a member that does not match the rules', async () => {
    await admin`update product set stock = 4 where id = ${other?.id ?? ''}`
    expect(await found()).toEqual([
      { workspace, collection: ruleBased, kind: 'surplus', product: other?.id, stored: null, expected: null },
    ])
  })

  it('a hand-picked member without a product', async () => {
    await admin`delete from product where id = ${stranger?.id ?? ''}`
    expect(await found()).toEqual([
      { workspace, collection: handPicked, kind: 'surplus', product: stranger?.id, stored: null, expected: null },
    ])
  })

  it('a member with a wrong sort key, by rules and hand-picked', async () => {
    await admin`update collection_member set sort_key = 'a' where product_id = ${other?.id ?? ''}`
    const [first, second] = (await found()).sort((one) => (one.collection === ruleBased ? -1 : 1))
    const place = { workspace, kind: 'place', product: other?.id, stored: 'a' }
    expect(first).toEqual({ ...place, collection: ruleBased, expected: 'other' })
    expect(second).toEqual({ ...place, collection: handPicked, expected: expect.stringMatching(/^0+10+$/) })
  })

  it('a member that is available although its product is not', async () => {
    await admin`update collection_member set is_available = true where product_id = ${other?.id ?? ''} and version_number = ${await versionOf(ruleBased)}`
    expect(await found()).toEqual([
      { workspace, collection: ruleBased, kind: 'availability', product: other?.id, stored: 'true', expected: 'false' },
    ])
  })

  it('a count that is not the number of members', async () => {
    await admin`update collection_member_count set available = 7 where version_number = ${await versionOf(handPicked)}`
    expect(await found()).toEqual([{ workspace, collection: handPicked, kind: 'count', stored: '7', expected: '1' }])
  })

  it('a CURRENT version that is not the collection’s, without one that is BUILDING', async () => {
    await admin`update collection set rules = '{"match": "all", "conditions": []}' where id = ${ruleBased}`
    await admin`update membership_version set state = 'RETIRED' where collection_id = ${handPicked}`
    const outdated = [handPicked, ruleBased].map((collection) => ({ workspace, collection, kind: 'outdated' }))
    const collections = (await found()).map(({ workspace, collection, kind }) => ({ workspace, collection, kind }))
    expect(collections).toEqual(expect.arrayContaining(outdated))
    expect(collections).toHaveLength(2)
  })

  it('a member with another workspace’s id', async () => {
    await uncounted(
      (sql) => sql`update collection_member set workspace_id = ${randomUUID()} where product_id = ${member?.id ?? ''}`,
    )
    expect(
      (await found()).map(({ collection, kind, stored, expected }) => [collection, kind, stored, expected]),
    ).toEqual(
      expect.arrayContaining([
        [ruleBased, 'count', '1', '0'],
        [null, 'orphaned', '0', '1'],
      ]),
    )
  })

  it('in a BUILDING version: a missing member up to processed_to, and a member after it', async () => {
    const [first, last] = [member, other].map((state) => state?.id ?? '').sort()
    await admin`update membership_version set state = 'BUILDING', processed_to = ${first ?? ''} where collection_id = ${ruleBased}`
    expect((await found()).map(({ kind, product }) => [kind, product])).toEqual([['surplus', last]])
    await admin`delete from collection_member where product_id = ${last ?? ''} and version_number = ${await versionOf(ruleBased)}`
    expect(await found()).toEqual([])
    await admin`delete from collection_member where version_number = ${await versionOf(ruleBased)}`
    expect((await found()).map(({ kind, product }) => [kind, product])).toEqual([['missing', first]])
  })

  it('in the SAVED version of a SMART collection: a sort key, an availability and a count', async () => {
    await send(caller, 'PUT', `/v1/collections/${handPicked}`, { membership_type: 'SMART', rules: inStock })
    const saved = admin`select number from membership_version where state = 'SAVED'`
    await admin`update collection_member set sort_key = 'a' where version_number = (${saved}) and product_id = ${stranger?.id ?? ''}`
    await admin`update collection_member set is_available = true where version_number = (${saved}) and product_id = ${other?.id ?? ''}`
    await admin`update collection_member_count set available = 0 where version_number = (${saved})`
    const differences = (await found()).map(({ collection, kind }) => `${collection} ${kind}`).sort()
    expect(differences).toEqual(['availability', 'count', 'place'].map((kind) => `${handPicked} ${kind}`))
  })

  it('members, counts and versions without their collection', async () => {
    await admin`delete from collection where id = ${ruleBased}`
    await admin`delete from membership_version where collection_id = ${handPicked}`
    await admin`delete from collection where id = ${handPicked}`
    expect((await found()).map(({ collection, kind }) => ({ collection, kind }))).toEqual([
      { collection: null, kind: 'orphaned' },
      { collection: ruleBased, kind: 'orphaned' },
    ])
  })
})

it('reads more differences and more collections than fit in one batch', async () => {
  await Promise.all(Array.from({ length: 30 }, () => create(aCaller(), { membership_type: 'SMART', rules: inStock })))
  await admin`
    insert into collection_member (workspace_id, version_number, product_id, position, sort_key, is_available)
    select ${workspace}, ${await versionOf(ruleBased)}, gen_random_uuid(), 0, '', false from generate_series(1, 2500)`
  await admin`update collection_member_count set available = available + 1`
  expect(await found()).toHaveLength(2500 + 2)
})

it('finds no difference in versions that are BUILDING or RETIRED', async () => {
  await admin`update membership_version set state = 'SAVED' where collection_id = ${handPicked}`
  await admin`
    insert into membership_version (workspace_id, collection_id, source, sort_order, state)
    select ${workspace}, ${handPicked}, 'HAND_PICKED', 'MANUAL', state from (values ('BUILDING'), ('RETIRED')) as more (state)`
  expect(await found()).toEqual([])
})

describe('As a check of operators', () => {
  const counts = { memberships: 2, members: 4, queued: 0 }

  it('it says how much it has compared, and finds nothing when all is right', async () => {
    expect(await run('check-members')).toMatchObject({ state: 'SUCCEEDED', checked: counts, found: 0 })
  })

  it('it counts changes of products that are queued, which it does not take for differences', async () => {
    const state = member && { workspace_id: workspace, data: { ...member, total_stock: 0, version: 2 } }
    await inTransaction(worker.sql, (tx) =>
      queueProducts(tx, 0, [{ workspaceId: workspace, id: member?.id ?? '', state: state ?? null }]),
    )
    expect(await run('check-members')).toMatchObject({ checked: { ...counts, queued: 1 }, found: 0 })
    await admin`truncate queued_product`
  })

  it('it reports each difference', async () => {
    const unknown = randomUUID()
    await admin`update collection_member set product_id = ${unknown} where product_id = ${stranger?.id ?? ''}`
    expect(await run('check-members')).toMatchObject({
      found: 1,
      findings: [{ workspace, collection: handPicked, kind: 'surplus', product: unknown }],
    })
  })
})
