import { aCaller } from '@backoffice/testing/caller.ts'
import { beforeAll, expect, test } from 'vitest'
import { requestReads } from '../testing/rows-read.ts'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { listDeliveries } from './list-deliveries.ts'

const { admin, appUrl, createEndpointAt } = await webhookDelivery()
const caller = aCaller()
const readFor = requestReads(appUrl, [listDeliveries])
const [HOURS, OF_AN_HOUR, WAITING, WAITING_OF_AN_HOUR] = [22, 6000, 100_000, 20_000]
/** The first delivery of each partition of days is read, to merge them, for each hour of a page. */
const FIRST_ONES = 14
let endpointId = ''

/**
 * Busy hours, each with a delivery of a type that is rare here and common elsewhere, and one that waits. Before them,
 * 100,000 wait within a few hours.
 */
beforeAll(async () => {
  endpointId = (await createEndpointAt(caller, 'https://example.com')).id
  const insert = (
    workspaceId: string,
    endpoint: string,
    deliveries: number,
    hoursAgo: number,
    ofAnHour: number,
  ) => admin`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, next_attempt_at, created_at)
    select ${workspaceId}, ${endpoint}, uuidv7(ago), uuidv7(ago),
      case when ${workspaceId} <> ${caller.workspaceId} or n % ${ofAnHour} = 1000 then 'tag.created' else 'product.updated' end,
      case when is_waiting then 'PENDING' else 'DELIVERED' end, case when is_waiting then now() end, now()
    from generate_series(1, ${deliveries}::integer) as n
    cross join lateral (
      select make_interval(hours => -${hoursAgo}::integer, secs => -3600.0 * n / ${ofAnHour}) as ago,
        ${deliveries === WAITING} or n % ${ofAnHour} = 1500 as is_waiting
    ) as delivery`
  await insert(caller.workspaceId, endpointId, HOURS * OF_AN_HOUR, 0, OF_AN_HOUR)
  await insert(caller.workspaceId, endpointId, WAITING, HOURS + 2, WAITING_OF_AN_HOUR)
  const other = aCaller()
  const { id } = await createEndpointAt(other, 'https://example.com')
  await insert(other.workspaceId, id, 20_000, 0, OF_AN_HOUR)
  await admin`vacuum analyze delivery, hourly_delivery_count`
})

test.each([
  ['a type that is rare', 'event_type=tag.created', 20 * (1 + FIRST_ONES)],
  ['a type that is rare, and a status', 'event_type=tag.created&status=DELIVERED', 20 * (1 + FIRST_ONES)],
  ['what waits', 'status=PENDING', HOURS + WAITING + 20],
])('a list by %s reads those, not all deliveries of their hours', async (_, query, most) => {
  const { body, rows } = await readFor(caller, 'GET', `/v1/webhooks/${endpointId}/deliveries?${query}&limit=20`)
  expect((body as { items: unknown[] }).items).toHaveLength(20)
  expect(rows).toBeLessThanOrEqual(most)
})

test('a list of what waits reads two hours at most where very many wait within an hour', async () => {
  const path = `/v1/webhooks/${endpointId}/deliveries?status=PENDING&limit=100&page=10`
  const { body, rows } = await readFor(caller, 'GET', path)
  expect(body).toMatchObject({ total: HOURS + WAITING })
  expect(rows).toBeLessThanOrEqual(2 * (WAITING_OF_AN_HOUR + FIRST_ONES))
})
