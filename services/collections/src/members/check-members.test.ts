import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { ProductState } from '@backoffice/contracts/product.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { aProductState, collectionsService } from '../harness.ts'

const { admin, workerUrl, send, create, project, wrongs: found } = await collectionsService()

const caller = aCaller()
const workspace = caller.workspaceId
const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 5 }] }
let [member, other, stranger]: ProductState[] = []
let ruled: string
let picked: string

beforeEach(async () => {
  await admin`truncate product, deleted_product, collection, generation, rule_set, member, member_count`
  member = aProductState({ name: 'Member' })
  other = aProductState({ name: 'Other', status: 'HIDDEN' })
  stranger = aProductState({ name: 'Stranger', total_stock: 1 })
  await project(caller, member, other, stranger)
  ruled = (await create(caller, { membership_type: 'SMART', rules: inStock, sort_order: 'TITLE_ASC' })).id
  picked = (await create(caller)).id
  await send(caller, 'POST', `/v1/collections/${picked}/products`, { products: [stranger.id, other.id] })
})

it('finds nothing where every membership is as a fresh evaluation has it, of any workspace', async () => {
  await create(aCaller(), { membership_type: 'SMART', rules: inStock })
  await create(aCaller())
  expect(await found()).toEqual([])
})

/** The number of a collection's only generation. */
const generationOf = async (collection: string): Promise<string> => {
  const [row] = await admin<{ number: string }[]>`select number from generation where collection_id = ${collection}`
  return row?.number ?? ''
}

/** Changes members without what counts them. */
const uncounted = (change: (sql: typeof admin) => Promise<unknown>) =>
  admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await change(tx as unknown as typeof admin)
  })

describe('Each difference is told', () => {
  it('a product that the rules gather and that is no member, with the count that it makes wrong', async () => {
    await uncounted((sql) => sql`delete from member where product_id = ${member?.id ?? ''}`)
    expect(await found()).toEqual([
      { workspace, collection: ruled, wrong: 'missing', product: member?.id, stored: null, right: null },
      { workspace, collection: ruled, wrong: 'count', stored: '1', right: '0' },
    ])
  })

  it('a member that the rules do not gather', async () => {
    await admin`update product set stock = 4 where id = ${other?.id ?? ''}`
    expect(await found()).toEqual([
      { workspace, collection: ruled, wrong: 'surplus', product: other?.id, stored: null, right: null },
    ])
  })

  it('a hand-picked member whose product is not there', async () => {
    await admin`delete from product where id = ${stranger?.id ?? ''}`
    expect(await found()).toEqual([
      { workspace, collection: picked, wrong: 'surplus', product: stranger?.id, stored: null, right: null },
    ])
  })

  it('a member that is not in its place, of rules and of picks', async () => {
    await admin`update member set sort_key = 'a' where product_id = ${other?.id ?? ''}`
    const [first, second] = (await found()).sort((one) => (one.collection === ruled ? -1 : 1))
    const wrong = { workspace, wrong: 'place', product: other?.id, stored: 'a' }
    expect(first).toEqual({ ...wrong, collection: ruled, right: 'other' })
    expect(second).toEqual({ ...wrong, collection: picked, right: expect.stringMatching(/^0+10+$/) })
  })

  it('a member that is shown although its product is not', async () => {
    await admin`update member set is_available = true where product_id = ${other?.id ?? ''} and generation = ${await generationOf(ruled)}`
    expect(await found()).toEqual([
      { workspace, collection: ruled, wrong: 'availability', product: other?.id, stored: 'true', right: 'false' },
    ])
  })

  it('a count that is not that of the members', async () => {
    await admin`update member_count set available = 7 where generation = ${await generationOf(picked)}`
    expect(await found()).toEqual([{ workspace, collection: picked, wrong: 'count', stored: '7', right: '1' }])
  })

  it('a collection that shows something else than it asks for while nothing else is being built', async () => {
    await admin`update collection set rules = '{"match": "all", "conditions": []}' where id = ${ruled}`
    await admin`update generation set state = 'OLD' where collection_id = ${picked}`
    const outdated = [picked, ruled].map((collection) => ({ workspace, collection, wrong: 'outdated' }))
    const collections = (await found()).map(({ workspace, collection, wrong }) => ({ workspace, collection, wrong }))
    expect(collections).toEqual(expect.arrayContaining(outdated))
    expect(collections).toHaveLength(2)
  })

  it('a member behind another workspace’s wall', async () => {
    await uncounted(
      (sql) => sql`update member set workspace_id = ${randomUUID()} where product_id = ${member?.id ?? ''}`,
    )
    expect((await found()).map(({ collection, wrong, stored, right }) => [collection, wrong, stored, right])).toEqual(
      expect.arrayContaining([
        [ruled, 'count', '1', '0'],
        [null, 'orphaned', '0', '1'],
      ]),
    )
  })

  it('of a generation that is being built: what the builder has left out, and what it has yet to come to', async () => {
    const [first, last] = [member, other].map((state) => state?.id ?? '').sort()
    await admin`update generation set state = 'BUILDING', built_to = ${first ?? ''} where collection_id = ${ruled}`
    expect((await found()).map(({ wrong, product }) => [wrong, product])).toEqual([['surplus', last]])
    await admin`delete from member where product_id = ${last ?? ''} and generation = ${await generationOf(ruled)}`
    expect(await found()).toEqual([])
    await admin`delete from member where generation = ${await generationOf(ruled)}`
    expect((await found()).map(({ wrong, product }) => [wrong, product])).toEqual([['missing', first]])
  })

  it('of what is kept of a collection that is SMART now: a place, an availability and a count', async () => {
    await send(caller, 'PUT', `/v1/collections/${picked}`, { membership_type: 'SMART', rules: inStock })
    const kept = admin`select number from generation where state = 'KEPT'`
    await admin`update member set sort_key = 'a' where generation = (${kept}) and product_id = ${stranger?.id ?? ''}`
    await admin`update member set is_available = true where generation = (${kept}) and product_id = ${other?.id ?? ''}`
    await admin`update member_count set available = 0 where generation = (${kept})`
    const wrongs = (await found()).map(({ collection, wrong }) => `${collection} ${wrong}`).sort()
    expect(wrongs).toEqual(['availability', 'count', 'place'].map((wrong) => `${picked} ${wrong}`))
  })

  it('members, counts and generations that are left over', async () => {
    await admin`delete from collection where id = ${ruled}`
    await admin`delete from generation where collection_id = ${picked}`
    await admin`delete from collection where id = ${picked}`
    expect((await found()).map(({ collection, wrong }) => ({ collection, wrong }))).toEqual([
      { collection: null, wrong: 'orphaned' },
      { collection: ruled, wrong: 'orphaned' },
    ])
  })
})

it('goes through more differences and more collections than fit in one batch', async () => {
  await Promise.all(Array.from({ length: 30 }, () => create(aCaller(), { membership_type: 'SMART', rules: inStock })))
  await admin`
    insert into member (workspace_id, generation, product_id, position, sort_key, is_available)
    select ${workspace}, ${await generationOf(ruled)}, gen_random_uuid(), 0, '', false from generate_series(1, 2500)`
  await admin`update member_count set available = available + 1`
  expect(await found()).toHaveLength(2500 + 2)
})

it('takes what is being built and what is being deleted for what it is', async () => {
  await admin`update generation set state = 'KEPT' where collection_id = ${picked}`
  await admin`
    insert into generation (workspace_id, collection_id, source, sort_order, state)
    select ${workspace}, ${picked}, 'PICKED', 'MANUAL', state from (values ('BUILDING'), ('OLD')) as more (state)`
  expect(await found()).toEqual([])
})

describe('npm run check-members', () => {
  const run = () =>
    new Promise<{ code: number | null; stdout: string }>((resolve) => {
      const file = fileURLToPath(new URL('check-members.ts', import.meta.url))
      const env = { ...process.env, WORKER_DATABASE_URL: workerUrl }
      const child = execFile(process.execPath, [file], { env }, (_, stdout) =>
        resolve({ code: child.exitCode, stdout }),
      )
    })

  it('says how much it has compared, and succeeds when all is right', async () => {
    expect(await run()).toEqual({ code: 0, stdout: 'memberships checked: 2; members: 4; differences: 0\n' })
  })

  it('prints each difference as a line of JSON and fails when there is one', async () => {
    const ghost = randomUUID()
    await admin`update member set product_id = ${ghost} where product_id = ${stranger?.id ?? ''}`
    const { code, stdout } = await run()
    const [line, counts] = stdout.split('\n')
    expect(JSON.parse(line ?? '')).toMatchObject({ workspace, collection: picked, wrong: 'surplus', product: ghost })
    expect([code, counts]).toEqual([1, 'memberships checked: 2; members: 4; differences: 1'])
  })
})
