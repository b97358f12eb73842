import { openDatabase } from '@backoffice/postgres/database.ts'
import { REQUEST_SETTINGS } from '@backoffice/postgres/request-settings.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { planOf, rowsReadBy, type SentStatement } from '@backoffice/testing/query-plan.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeAll, expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { listAllDeliveries } from './list-all-deliveries.ts'
import { listDeliveries } from './list-deliveries.ts'
import { resendDeliveries } from './resend-deliveries.ts'

const { admin, appUrl, createEndpointAt } = await webhookDelivery()
const caller = aCaller()
const [ENDPOINTS, EVENTS, DAYS] = [10, 6000, 6]
/** What a request may look at; beside it the first delivery of each partition is read, to merge them. */
const FIRST_ONES = DAYS + 1
const LOOKED_AT = 5000 + ENDPOINTS * FIRST_ONES

let sent: SentStatement[] = []
const db = openDatabase({
  url: appUrl,
  applicationName: 'plans',
  transactionSettings: REQUEST_SETTINGS,
  onStatement: (text, parameters) => sent.push({ text, parameters }),
})
whenDone(() => db.stop?.())
const send = serviceClient(db, [listAllDeliveries, listDeliveries, resendDeliveries])
let [endpointId, eventId, resourceId] = ['', '', '']

/** One delivery of 600 is FAILED; no attempt has ended with `dns`. */
beforeAll(async () => {
  const ids: string[] = []
  for (let n = 0; n < ENDPOINTS; n++) ids.push((await createEndpointAt(caller, 'https://example.com')).id)
  endpointId = ids[0] ?? ''
  await admin.begin(async (tx) => {
    await tx`set local role backoffice_migrator`
    await tx`
      select add_partition(parent, (now() at time zone 'UTC')::date - day) from unnest(array['event', 'delivery', 'attempt']) as parent,
        generate_series(2, ${DAYS}::integer) as day`
  })
  await admin`
    with stored as materialized (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${caller.workspaceId}, uuidv7(make_interval(secs => -n * 86400.0 * ${DAYS - 1} / ${EVENTS})), 'tag.created', (n % 1000)::text, '{}', now()
      from generate_series(1, ${EVENTS}::integer) as n returning id
    ), numbered as (select id, row_number() over (order by id) as n from stored
    ), made as (
      insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, attempts_made, created_at)
      select ${caller.workspaceId}, endpoint, uuidv7(uuid_extract_timestamp(id) - clock_timestamp()), id, 'tag.created',
        case when n % 600 = 0 then 'FAILED' else 'DELIVERED' end, 1, now()
      from numbered cross join unnest(${ids}::uuid[]) as endpoint returning *
    )
    insert into attempt (workspace_id, delivery_id, number, started_at, duration_ms, request_url, request_headers, response_status, error_class)
    select workspace_id, id, 1, now(), 1, '', '{}', 200, case when status = 'FAILED' then 'status' end from made`
  await admin`vacuum analyze delivery, event, attempt, endpoint`
  const [event] = await admin`select id, key from event order by id limit 1 offset 3000`
  ;[eventId, resourceId] = [event?.id, event?.key]
})

/** Rows of deliveries, events and attempts that the statements of a request read, when they run once more. */
async function readFor(request: () => Promise<{ status: number }>): Promise<number> {
  sent = []
  expect((await request()).status).toBeLessThan(300)
  // Without begin, set_config and commit.
  const statements = sent.slice(2, -1)
  return db.inWorkspace({ ...caller, traceparent: '' }, async (tx) => {
    let rows = 0
    for (const statement of statements) {
      const parts = await planOf(tx, statement, 'analyze')
      rows += rowsReadBy(parts.filter((part) => /^(delivery|event|attempt)/.test(part['Relation Name'] ?? '')))
    }
    return rows
  })
}

test.each([
  ['nothing', () => '', ENDPOINTS * (21 + FIRST_ONES) + 60],
  ['an endpoint', () => `endpoint_id=${endpointId}`, 21 + FIRST_ONES + 60],
  ['an event', () => `event_id=${eventId}`, 4 * ENDPOINTS],
  ['a resource', () => `resource_id=${resourceId}`, 6 + ENDPOINTS * 6 + 60],
  ['FAILED', () => 'status=FAILED', ENDPOINTS * 10 + 60],
  ['FAILED at an endpoint', () => `status=FAILED&endpoint_id=${endpointId}`, 10 + 30],
  ['a type that no delivery has', () => 'event_type=tag.deleted', LOOKED_AT],
  ['states that no delivery has', () => 'status=FAILED,PENDING&event_type=tag.deleted', LOOKED_AT],
  ['an error that no attempt had', () => 'error_class=dns', 2 * LOOKED_AT],
])('a list by %s reads few deliveries, however many there are', async (_, query, most) => {
  expect(await readFor(() => send(caller, 'GET', `/v1/deliveries?${query()}`))).toBeLessThanOrEqual(most)
})

test('sending FAILED deliveries again reads those', async () => {
  const read = await readFor(() => send(caller, 'POST', '/v1/deliveries/resend', { status: ['FAILED'] }))
  // To find a delivery, to change it, and as it was changed.
  expect(read).toBeLessThanOrEqual(4 * ENDPOINTS * 10)
})

test('a list of an endpoint by PENDING reads those, however many deliveries their hours have', async () => {
  await admin`
    update delivery set status = 'PENDING', next_attempt_at = now()
    where endpoint_id = ${endpointId} and id in (
      select id from (
        select id, row_number() over (order by id) as n from delivery where endpoint_id = ${endpointId}
      ) as numbered where n % 1000 = 500
    )`
  await admin`vacuum analyze delivery`
  const request = () => send(caller, 'GET', `/v1/webhooks/${endpointId}/deliveries?status=PENDING`)
  expect(await request()).toMatchObject({ body: { total: 6 } })
  // All of them for each of their hours.
  expect(await readFor(request)).toBeLessThanOrEqual(6 * 6)
})
