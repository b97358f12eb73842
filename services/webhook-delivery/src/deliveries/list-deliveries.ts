import { Id, TimestampInput } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { noSuchEndpoint } from '../endpoints/endpoint.ts'
import { DELIVERY_STATUSES, Delivery, type DeliveryRow, deliveryColumns, deliveryView } from './delivery.ts'

/** `created_at` lies from `since` on, and before `until` (OP-100). */
const Filters = z.strictObject({
  status: z.enum(DELIVERY_STATUSES).optional(),
  event_type: z.string().min(1).max(255).optional(),
  event_id: Id.optional(),
  since: TimestampInput.optional(),
  until: TimestampInput.optional(),
})
type Filters = z.output<typeof Filters>

/**
 * GET /v1/webhooks/{id}/deliveries (spec: Webhooks): an endpoint's deliveries, newest first. Maintained counts give the total and
 * the hours of the page's deliveries, so that only these hours are read.
 */
export const listDeliveries = operation({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'List the deliveries of a webhook endpoint',
  scope: 'webhook::read',
  params: z.strictObject({ id: Id }),
  query: z.strictObject({ ...PageQuery.shape, ...Filters.shape }),
  responses: { 200: Page(Delivery) },
  openPoints: ['OP-03', 'OP-60', 'OP-66', 'OP-100'],

  async handle({ params, query, inWorkspace }) {
    const { page, size, offset } = pageOf(query)
    return inWorkspace(async (tx) => {
      const [place] = await locatePage(tx, params.id, query, { size, offset })
      if (place === undefined) throw noSuchEndpoint(params.id)
      const rows = place.hours.length === 0 ? [] : await selectPage(tx, params.id, query, { ...place, size })
      return ok(pageView(page, size, place.total, rows.map(deliveryView)))
    })
  },
})

interface Place {
  total: number
  /** The hours that the page's deliveries are from. */
  hours: string[]
  /** How many deliveries of these hours come before the page. */
  skipped: number
}

/** Undefined when the workspace has no such endpoint. */
const locatePage = (
  tx: Transaction,
  endpointId: string,
  filters: Filters,
  { size, offset }: { size: number; offset: number },
) => tx<Place[]>`
  with counted as (
    ${filters.event_id === undefined ? hoursOf(tx, endpointId, filters) : hourOfEvent(tx, endpointId, filters)}
  ),
  placed as (
    select hour, deliveries, sum(deliveries) over (order by hour desc) - deliveries as before from counted where deliveries > 0
  )
  select
    coalesce((select sum(deliveries)::bigint from counted), 0) as total,
    coalesce(array_agg(hour::text) filter (where hour is not null), '{}') as hours,
    coalesce(${offset} - min(before), 0)::integer as skipped
  from endpoint left join placed on before < ${offset + size} and before + deliveries > ${offset}
  where workspace_id = ${tx.context.workspaceId} and id = ${endpointId}
  group by id`

/** The number of deliveries per hour, from the counts. An hour that `since` or `until` cuts is counted anew. */
const hoursOf = (tx: Transaction, endpointId: string, { since, until, status, event_type }: Filters) => tx`
  select hour, case
    when ${since === undefined ? tx`false` : tx`hour < ${since}`}
      or ${until === undefined ? tx`false` : tx`hour + interval '1 hour' > ${until}`}
    then (
      select count(*) from delivery
      where ${matching(tx, endpointId, { since, until, status, event_type })} and ${ofHour(tx)}
    )
    else deliveries
  end as deliveries
  from (
    select hour, sum(deliveries)::bigint as deliveries from delivery_count
    where workspace_id = ${tx.context.workspaceId} and endpoint_id = ${endpointId}
      ${since === undefined ? tx`` : tx`and hour >= date_bin('1 hour', ${since}, 'epoch')`}
      ${until === undefined ? tx`` : tx`and hour < ${until}`}
      ${status === undefined ? tx`` : tx`and status = ${status}`}
      ${event_type === undefined ? tx`` : tx`and event_type = ${event_type}`}
    group by hour
  ) as known`

/** The hour of the event's delivery: an endpoint gets an event once. */
const hourOfEvent = (tx: Transaction, endpointId: string, filters: Filters) => tx`
  select date_bin('1 hour', uuid_extract_timestamp(id), 'epoch') as hour, 1::bigint as deliveries
  from delivery where ${matching(tx, endpointId, filters)}`

const selectPage = (
  tx: Transaction,
  endpointId: string,
  filters: Filters,
  { hours, skipped, size }: Place & { size: number },
) => tx<DeliveryRow[]>`
  select ${deliveryColumns(tx)}
  from unnest(${hours}::timestamptz[]) as hour cross join lateral (
    select * from delivery where ${matching(tx, endpointId, filters)} and ${ofHour(tx)}
    order by id desc limit ${skipped + size}
  ) as delivery
  order by id desc limit ${size} offset ${skipped}`

const ofHour = (tx: Transaction) => tx`id >= least_id(hour) and id < least_id(hour + interval '1 hour')`

/** Each combination of filters is a statement of its own, and so is its plan. */
const matching = (tx: Transaction, endpointId: string, { status, event_type, event_id, since, until }: Filters) => tx`
  delivery.workspace_id = ${tx.context.workspaceId} and delivery.endpoint_id = ${endpointId}
  ${status === 'FAILED' ? tx`and delivery.status = 'FAILED'` : tx``}
  ${status !== undefined && status !== 'FAILED' ? tx`and delivery.status = ${status}` : tx``}
  ${event_type === undefined ? tx`` : tx`and delivery.event_type = ${event_type}`}
  ${event_id === undefined ? tx`` : tx`and delivery.event_id = ${event_id}`}
  ${since === undefined ? tx`` : tx`and delivery.id >= least_id(${since})`}
  ${until === undefined ? tx`` : tx`and delivery.id < least_id(${until})`}`
