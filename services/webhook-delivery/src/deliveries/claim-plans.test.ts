import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeAll, expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { claimDue, readyEndpoints } from './claims.ts'
import { PLANS_ONCE } from './plans.ts'

const [ENDPOINTS, DELIVERIES] = [20, 500]
const { admin, workerUrl, createEndpointAt } = await webhookDelivery()
const sent: { text: string; parameters: unknown[] }[] = []
const { sql, stop } = openDatabase({
  url: workerUrl,
  applicationName: 'plans',
  poolSize: 1,
  settings: PLANS_ONCE,
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

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** Rows of deliveries that a plan has read, wanted or not. */
const readBy = (plan: Plan): number =>
  (plan['Relation Name']?.startsWith('delivery')
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0) + (plan.Plans ?? []).reduce((sum, part) => sum + readBy(part), 0)

/** Deliveries read by the statement that was sent last, when it is run once more. */
async function readByLast(): Promise<number> {
  const { text, parameters } = sent.at(-1) ?? expect.fail('nothing was sent')
  const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(
    `explain (analyze, format json) ${text}`,
    parameters as never[],
  )
  return readBy(row?.['QUERY PLAN'][0].Plan ?? expect.fail('no plan'))
}

test('looking for endpoints with something to send reads a row for each of their queues, however many wait', async () => {
  const ready = await readyEndpoints(sql)
  expect(ready).toHaveLength(2 * ENDPOINTS)
  expect(new Set(ready.map(({ endpointId }) => endpointId))).toEqual(new Set(endpointIds))
  expect(ready.filter(({ isLater }) => isLater)).toHaveLength(ENDPOINTS)
  expect(await readByLast()).toBeLessThanOrEqual(2 * ENDPOINTS + 2)
})

test('claiming reads what it claims, whatever else waits for the same endpoints', async () => {
  const wanted = endpointIds.slice(0, 5).map((endpointId) => ({ endpointId, firsts: 3, laters: 2 }))
  const claimed = await claimDue(sql, wanted, { claimer: 1, now: new Date(), maxBytes: 1_000_000 })
  expect(claimed).toHaveLength(25)
  expect(claimed.filter(({ attemptsMade }) => attemptsMade === 0)).toHaveLength(15)
  // To find a delivery, to change it, and as it was changed.
  expect(await readByLast()).toBeLessThanOrEqual(3 * 25 + 5)
})
