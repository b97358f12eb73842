import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeAll, expect, test } from 'vitest'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { claimBacklog, takeFromBacklog } from '../events/fan-out-backlog.ts'
import { testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { claimDue, dueBetween, FIRST_QUEUE, readyAfter } from './claims.ts'

const [ENDPOINTS, DELIVERIES] = [20, 500]
const { admin, workerUrl, createEndpointAt } = await webhookDelivery()
const sent: { text: string; parameters: unknown[] }[] = []
const { sql, stop } = openDatabase({
  url: workerUrl,
  applicationName: 'plans',
  poolSize: 1,
  settings: PLAN_ONCE_BY_KEYS,
  onStatement: (text, parameters) => sent.push({ text, parameters }),
})
whenDone(() => stop?.())

const caller = aCaller()
const endpointIds: string[] = []

/** Half of what waits for each endpoint are first attempts, and a tenth of the rest is due. */
beforeAll(async () => {
  for (let index = 0; index < ENDPOINTS; index++) {
    endpointIds.push((await createEndpointAt(caller, 'https://example.com')).id)
  }
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${caller.workspaceId}, uuidv7(), 'product.created', 'key', '{}', now() from generate_series(1, ${DELIVERIES}::integer)
      returning id
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at)
    select ${caller.workspaceId}, endpoint, uuidv7(), id, 'product.created', n % 2,
      now() + case when n % 20 = 1 or n % 2 = 0 then interval '-1 minute' else interval '1 hour' end, now()
    from (select id, row_number() over () as n from stored) as event cross join unnest(${endpointIds}::uuid[]) as endpoint`
  await admin`analyze`
})

beforeAll(async () => {
  await admin`
    insert into fan_out_backlog (workspace_id, event_id, endpoint_ids, deliveries, bytes, claimed_by)
    select workspace_id, id, ${endpointIds}::uuid[], ${ENDPOINTS}, octet_length(body), 1
    from event order by id`
  await admin`
    insert into fan_out_backlog (workspace_id, event_id, endpoint_ids, deliveries, bytes, claimed_by)
    select uuidv7(), uuidv7(), array[uuidv7()], 1, 2, n % 2 from generate_series(1, 2000) as n`
  await admin`analyze`
})

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** Rows of a table that a plan has read, wanted or not. */
const readBy = (plan: Plan, table: string): number =>
  (plan['Relation Name']?.startsWith(table)
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0) + (plan.Plans ?? []).reduce((sum, part) => sum + readBy(part, table), 0)

/** Rows read by the statement that was sent last, when it is run once more. */
async function readByLast(table = 'delivery', words = ''): Promise<number> {
  const { text, parameters } =
    sent.findLast((statement) => statement.text.includes(words)) ?? expect.fail('nothing was sent')
  const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(
    `explain (analyze, format json) ${text}`,
    parameters as never[],
  )
  return readBy(row?.['QUERY PLAN'][0].Plan ?? expect.fail('no plan'), table)
}

test('reading the table through reads a row for each queue of an endpoint, however many deliveries wait in it', async () => {
  const ready = await readyAfter(sql, FIRST_QUEUE, 3 * ENDPOINTS)
  expect(ready).toHaveLength(2 * ENDPOINTS)
  expect(new Set(ready.map(({ endpointId }) => endpointId))).toEqual(new Set(endpointIds))
  expect(ready.filter(({ isRepeat }) => isRepeat)).toHaveLength(ENDPOINTS)
  expect(await readByLast()).toBeLessThanOrEqual(2 * ENDPOINTS + 2)
  const [first, ...rest] = ready
  expect(await readyAfter(sql, first ?? FIRST_QUEUE, 4)).toEqual(rest.slice(0, 4))
  expect(await readByLast()).toBeLessThanOrEqual(2 * 4 + 2)
})

test('looking for what is due soon reads nothing that is due before or later', async () => {
  const [hourAgo, now] = [new Date(Date.now() - 3_600_000), new Date()]
  expect(await dueBetween(sql, hourAgo, now)).toHaveLength(2 * ENDPOINTS)
  expect(await dueBetween(sql, now, new Date(Date.now() + 60_000))).toEqual([])
  expect(await readByLast()).toBe(0)
})

test('claiming reads what it claims, whatever else waits for the same endpoints', async () => {
  const wanted = endpointIds.slice(0, 5).map((endpointId) => ({ endpointId, firstAttempts: 3, repeats: 2 }))
  const claimed = await claimDue(sql, wanted, { claimer: 1, now: new Date(), maxBytes: 1_000_000 })
  expect(claimed).toHaveLength(25)
  expect(claimed.filter(({ attemptsMade }) => attemptsMade === 0)).toHaveLength(15)
  // To find a delivery, to change it, and as it was changed.
  expect(await readByLast()).toBeLessThanOrEqual(3 * 25 + 5)
})

test('taking events out of the backlog reads the oldest of the workspace, whatever else waits', async () => {
  const { events, left } = await takeFromBacklog(sql, endpointDirectory(testKeys), 1, [caller.workspaceId])
  expect(events).toHaveLength(1000 / ENDPOINTS)
  expect(events.every(({ targets }) => targets.length === ENDPOINTS)).toBe(true)
  expect(left).toEqual([caller.workspaceId])
  const ids = events.map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted())
  // The oldest; to find what is taken, and as it was deleted.
  expect(await readByLast('fan_out_backlog', 'delete from fan_out_backlog')).toBeLessThanOrEqual(
    DELIVERIES + 2 * events.length,
  )
})

test('looking for workspaces with a backlog reads a row for each', async () => {
  const found = await claimBacklog(sql, 1)
  expect(found).toHaveLength(1001)
  expect(await readByLast('fan_out_backlog')).toBeLessThanOrEqual(1001 + 1)
})
