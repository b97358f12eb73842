import { setTimeout as pause } from 'node:timers/promises'
import type { Collection } from '@backoffice/contracts/collection.ts'
import postgres from 'postgres'
import { insertMembers } from '../services/collections/src/memberships/build-membership-version.ts'
import { compileRules } from '../services/collections/src/rules/compile.ts'
import { readRules } from '../services/collections/src/rules/rules.ts'
import type { Api } from './api.ts'
import { percentile } from './load.ts'
import { type CollectionPlace, PRODUCTS } from './seed-product-projection.ts'
import type { Row } from './table.ts'

/** The handle of the collection that is built. In the end it has all products. */
export const BUILT = 'built'
const NIL_UUID = '00000000-0000-0000-0000-000000000000'
const NEW = { name: BUILT, published: true, membership_type: 'SMART', sort_order: 'TITLE_ASC' }

const READS = [
  ['list of collections', '/v1/collections'],
  ['a collection', '/v1/collections/category-0'],
  ['products of a collection', '/v1/collections/category-0/products'],
] as const
/** Between two reads of one kind. */
const READ_EVERY_MS = 50
const IDLE_MS = 5000

const LOOK_EVERY_MS = 20
const SHOWN_WITHIN_MS = 120_000

/** Rules of several conditions. Only the last one differs between products. */
const rulesBelow = (stock: number) => ({
  match: 'all',
  conditions: [
    { field: 'name', operator: 'contains', value: 'Item' },
    { field: 'category', operator: 'is_set' },
    { field: 'price.NGN', operator: 'gte', value: 450_000 },
    { field: 'sku', operator: 'starts_with', value: 'list-' },
    { field: 'stock', operator: 'lt', value: stock },
  ],
})

/**
 * The time until a collection shows the products of new rules, beside one insert of all members into a table with the
 * same indexes and no triggers; and the latency of reads meanwhile, beside the latency of reads before.
 */
export async function measureCollectionBuild(place: CollectionPlace): Promise<Row[]> {
  const { api } = place
  const [tenth, all] = [rulesBelow(10), rulesBelow(100)]
  const before = await readBeside(api, pause(IDLE_MS))
  const made = await build(place, tenth, () => api.post('/v1/collections', { ...NEW, rules: tenth }))
  const changed = await build(place, all, () => api.put(`/v1/collections/${BUILT}`, { rules: all }))
  await untilTidy(place)
  const among = `of ${PRODUCTS.toLocaleString('en')} products`
  return [
    { name: `new SMART collection → shown, 5 conditions, 10 % ${among}`, ...made.row },
    { name: `new rules → shown, 5 conditions, all ${among}`, ...changed.row },
    ...READS.map(([what], kind) => {
      const [beside, atRest] = [[...(made.reads[kind] ?? []), ...(changed.reads[kind] ?? [])], before[kind] ?? []]
      const [p50, p99, floor] = [percentile(beside, 0.5), percentile(beside, 0.99), percentile(atRest, 0.99)]
      return {
        name: `${what}, read while these are built`,
        measured: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
        floor: `p99 ${floor.toFixed(1)} ms at rest`,
        ratio: p99 / floor,
        bound: 'p99 ≤ 50 ms',
      }
    }),
  ]
}

type SentRules = ReturnType<typeof rulesBelow>

/** Sends the rules and waits until the collection counts their products. */
async function build(place: CollectionPlace, rules: SentRules, send: () => Promise<unknown>) {
  const floor = await insertRaw(place, rules)
  const startedAt = performance.now()
  const shown = async () => {
    await send()
    while ((await place.api.get<Collection>(`/v1/collections/${BUILT}`)).product_count !== floor.available) {
      if (performance.now() - startedAt > SHOWN_WITHIN_MS) throw new Error('the new rules are not shown')
      await pause(LOOK_EVERY_MS)
    }
    return performance.now() - startedAt
  }
  const took = shown()
  const reads = await readBeside(place.api, took)
  const [ms, floorMs] = [await took, floor.ms]
  return {
    row: {
      measured: `${(ms / 1000).toFixed(1)} s`,
      floor: `${(floorMs / 1000).toFixed(1)} s`,
      ratio: ms / floorMs,
      bound: '≤ 10 s',
    },
    reads,
  }
}

/** The milliseconds of the insert, and the number of storefront-available members. */
async function insertRaw({ postgresUrl, workspaceId }: CollectionPlace, rules: SentRules) {
  const connection = { search_path: 'bench, collections' }
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined, connection })
  await sql`create schema bench`
  await sql`create table bench.collection_member (like collections.collection_member including all)`
  const version = {
    workspaceId,
    number: 1,
    sortOrder: NEW.sort_order,
    handPicked: null,
    processedTo: NIL_UUID,
    lastId: null,
  }
  const startedAt = performance.now()
  await insertMembers(sql, version, await compileRules(readRules(rules)))
  const ms = performance.now() - startedAt
  const [found] = await sql<[{ available: number }]>`
    select count(*)::integer as available from bench.collection_member where is_available`
  await sql`drop schema bench cascade`
  await sql.end()
  return { ms, available: found.available }
}

/** Reads until the work is done. Returns the milliseconds of each read, by kind. */
async function readBeside(api: Api, work: Promise<unknown>): Promise<number[][]> {
  let isOver = false
  const reading = READS.map(async ([, path]) => {
    const sent: Promise<number>[] = []
    while (!isOver) {
      sent.push(timed(() => api.get(path)))
      await pause(READ_EVERY_MS)
    }
    return Promise.all(sent)
  })
  await work.finally(() => {
    isOver = true
  })
  return Promise.all(reading)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** The membership builder deletes the previous version in the background. */
async function untilTidy({ postgresUrl }: CollectionPlace): Promise<void> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined })
  const deadline = performance.now() + SHOWN_WITHIN_MS
  while ((await sql`select from collections.membership_version where state = 'RETIRED' limit 1`).length > 0) {
    if (performance.now() > deadline) throw new Error('the members of the old rules are not deleted')
    await pause(LOOK_EVERY_MS)
  }
  await sql.end()
}
