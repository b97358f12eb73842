import { openDatabase } from '@backoffice/postgres/database.ts'
import { mergeBatch } from '@backoffice/postgres/merge-counts.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { maintainPartitions } from './daily-partitions.ts'

const { admin, workerUrl, send, createEndpointAt } = await webhookDelivery()
const statements: string[] = []
const workerDb = openDatabase({
  url: workerUrl,
  applicationName: 'worker',
  poolSize: 1,
  settings: PLAN_ONCE_BY_KEYS,
  onStatement: (text) => statements.push(text),
})
const worker = workerDb.sql
afterAll(() => workerDb.stop?.())

const HOUR_MS = 3_600_000

/** An endpoint with DELIVERED deliveries of an hour that is over. */
async function counted(deliveries: number) {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, 'https://receiver.example/')
  const ids = Array.from({ length: deliveries }, () => uuidv7({ msecs: Date.now() - 5 * HOUR_MS }))
  await admin`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select ${caller.workspaceId}, ${endpoint.id}, id, uuidv7(), 'tag.created', now(), now() from unnest(${ids}::uuid[]) as id`
  await admin`update delivery set status = 'DELIVERED', next_attempt_at = null where workspace_id = ${caller.workspaceId}`
  const total = async (query = '') =>
    (await send<{ total: number }>(caller, 'GET', `/v1/webhooks/${endpoint.id}/deliveries?limit=1${query}`)).body.total
  const shards = async () => {
    const rows = await admin<{ shard: number; status: string }[]>`
      select shard, status from hourly_delivery_count where workspace_id = ${caller.workspaceId}`
    return rows.map(({ shard, status }) => [shard, status])
  }
  return { caller, total, shards }
}

test('counts agree with the rows after they were merged, and those that are zero are gone', async () => {
  const { caller, total, shards } = await counted(3)
  while ((await mergeBatch(worker, 'delivery_counts')) > 0);
  expect([await total(), await total('&status=DELIVERED'), await total('&status=PENDING')]).toEqual([3, 3, 0])
  expect(await shards()).toEqual([[0, 'DELIVERED']])
  await admin`
    update delivery set status = 'FAILED' where id = (select min(id::text)::uuid from delivery where workspace_id = ${caller.workspaceId})`
  await admin`update delivery set status = 'FAILED' where workspace_id = ${caller.workspaceId}`
  while ((await mergeBatch(worker, 'delivery_counts')) > 0);
  expect([await total(), await total('&status=FAILED')]).toEqual([3, 3])
  expect(await shards()).toEqual([[0, 'FAILED']])
})

test('counts are merged until a batch is not full: more may come all the time', async () => {
  await counted(1)
  statements.length = 0
  await maintainPartitions(worker, createLogger('test', 'silent'))
  expect(statements.filter((text) => text.includes('merge_delivery_counts'))).toHaveLength(1)
})

test('zeros are gone whichever connection has counted them', async () => {
  // Connections count in shards by their process ids.
  for (let connection = 0; connection < 10; connection++) {
    const { caller, shards } = await counted(1)
    while ((await mergeBatch(worker, 'delivery_counts')) > 0);
    const { sql, stop } = openDatabase({ url: workerUrl, applicationName: 'counting', poolSize: 1 })
    await sql`update delivery set status = 'FAILED' where workspace_id = ${caller.workspaceId}`
    await stop?.()
    while ((await mergeBatch(worker, 'delivery_counts')) > 0);
    expect(await shards()).toEqual([[0, 'FAILED']])
  }
})

test('merging reads what it merges, and not the counts that are merged', async () => {
  await admin`
    insert into hourly_delivery_count (workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries)
    select uuidv7(), uuidv7(), now() - interval '3 hours', current_date, 'tag.created', 'DELIVERED', 0, 1 from generate_series(1, 50000)`
  await counted(3)
  const rows = await worker.begin(async (tx) => {
    // The counters may have rows of former transactions, too.
    const readSoFar = () => tx<{ rows: number }[]>`
      select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer as rows from pg_stat_xact_user_tables
      where relname like 'hourly_delivery_count%'`
    const [before] = await readSoFar()
    await tx`select merge_delivery_counts(5000::integer)`
    const [after] = await readSoFar()
    return (after?.rows ?? 0) - (before?.rows ?? 0)
  })
  expect(rows).toBeGreaterThan(0)
  expect(rows).toBeLessThan(100)
})
