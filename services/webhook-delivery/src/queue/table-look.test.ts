import { createLogger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeAll, expect, test } from 'vitest'
import { countedReads } from '../testing/rows-read.ts'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { type ReadyEndpoint, TableLook } from './table-look.ts'

const { admin, workerUrl, createEndpointAt } = await webhookDelivery()
const { sql, rowsRead } = countedReads(workerUrl)

const [ENDPOINTS, DELIVERIES] = [20, 200]
const [SOON, LONG_AGO, LATER] = ["interval '-30 seconds'", "interval '-1 hour'", "interval '1 hour'"]
const endpointIds: string[] = []

/** First attempts and retries of each endpoint, some of each due long ago and soon, and most of them later. */
beforeAll(async () => {
  const caller = aCaller()
  for (let index = 0; index < ENDPOINTS; index++)
    endpointIds.push((await createEndpointAt(caller, 'https://example.com')).id)
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${caller.workspaceId}, uuidv7(), 'product.created', 'key', '{}', now()
      from generate_series(1, ${DELIVERIES}::integer) returning id
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at)
    select ${caller.workspaceId}, endpoint, uuidv7(), id, 'product.created', n % 2,
      now() + case n / 2 when 0 then ${admin.unsafe(LONG_AGO)} when 1 then ${admin.unsafe(SOON)} else ${admin.unsafe(LATER)} end,
      now()
    from (select id, row_number() over () - 1 as n from stored) as event cross join unnest(${endpointIds}::uuid[]) as endpoint`
  await admin`analyze`
})

/** Looks until the table was read through once, or `times` times, and returns what it found. */
async function look(
  times = 1,
  onReading: (looking: TableLook) => void = () => undefined,
  keptUntil = Number.NEGATIVE_INFINITY,
) {
  const found: ReadyEndpoint[] = []
  let [readings, ends] = [0, 0]
  const beginReading = () => {
    readings++
    onReading(looking)
  }
  const looking: TableLook = new TableLook({
    sql,
    logger: createLogger('test', 'silent'),
    clock: () => new Date(),
    due: { beginReading, endReading: () => void ends++ },
    ownership: { own: [] },
    keptUntil: () => keptUntil,
    onLook: (ready) => void found.push(...ready),
  })
  await looking.start()
  whenDone(() => looking.stop())
  await eventually('the table was read through', () => ends >= times)
  await looking.stop()
  return { found, readings }
}

const queuesOf = (found: readonly ReadyEndpoint[]) =>
  new Set(found.map(({ endpointId, isRepeat }) => `${endpointId} ${isRepeat}`))

test('a look finds each queue that something is due for, long ago or soon, and nothing that is due later', async () => {
  const { found, readings } = await look()
  expect(readings).toBeGreaterThan(0)
  expect(queuesOf(found).size).toBe(2 * ENDPOINTS)
  const now = Date.now()
  const dueOf = (atLeast: number) => found.filter(({ dueAt }) => dueAt.getTime() >= atLeast)
  expect(queuesOf(dueOf(now - 60_000)).size, 'what became due').toBe(2 * ENDPOINTS)
  expect(queuesOf(found.filter(({ dueAt }) => dueAt.getTime() < now - 60_000)).size, 'what is due for long').toBe(
    2 * ENDPOINTS,
  )
  expect(dueOf(now + 5000)).toEqual([])
})

test('what has been due for long counts from the time until which its endpoint has kept it waiting', async () => {
  const measured = async () => Number(/^webhook_oldest_due_seconds (\S+)$/m.exec(await metricsText())?.[1])
  await look()
  expect(await measured()).toBeGreaterThanOrEqual(3600)
  await look(1, undefined, Date.now() - 60_000)
  expect(await measured()).toBeLessThan(1800)
})

test('reading the table through reads a row for each queue, however many deliveries wait in it', async () => {
  await look()
  expect(await rowsRead('delivery', 'with recursive ready')).toBeLessThanOrEqual(2 * ENDPOINTS + 2)
})

test('looking for what is due soon reads nothing that is due before or later', async () => {
  await look()
  expect(await rowsRead('delivery', 'group by endpoint_id, attempts_made > 0')).toBeLessThanOrEqual(2 * ENDPOINTS)
})

test('shards that are taken during a look are looked at from as far back as at the start', async () => {
  let isFirst = true
  const { found } = await look(2, (looking) => {
    if (isFirst) looking.hurry()
    isFirst = false
  })
  const recent = found.filter(({ dueAt }) => dueAt.getTime() >= Date.now() - 60_000)
  expect(recent.length).toBeGreaterThanOrEqual(2 * 2 * ENDPOINTS)
})
