import { ListQuery, listView, Page, pageOf } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { boundsOf, type HourList, hourPage, isWithin } from '@backoffice/postgres/lists/hour-page.ts'
import { NEWEST_FIRST, refuseUnknown } from '@backoffice/postgres/lists/list-page.ts'
import { z } from 'zod'
import { noSuchEndpoint } from '../endpoints/endpoint.ts'
import { DELIVERY_STATUSES, Delivery, deliveryColumns } from './delivery.ts'
import { FILTERS } from './find-deliveries.ts'

const { event_type, event_id, since, until } = FILTERS
/** Those of `GET /v1/deliveries` that its counts know, and one status (OP-100). */
const Filters = z.strictObject({ status: z.enum(DELIVERY_STATUSES).optional(), event_type, event_id, since, until })
type Listed = Omit<z.output<typeof Filters>, 'event_type'> & { readonly event_types?: readonly string[] | undefined }

/**
 * GET /v1/webhooks/{id}/deliveries (spec: Webhooks): an endpoint's deliveries, newest first. Maintained counts give the
 * total and the hours of the page's deliveries, so that only these hours are read.
 */
export const listDeliveries = operation({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'List the deliveries of a webhook endpoint',
  scope: 'webhook::read',
  query: z.strictObject({ ...ListQuery.shape, ...Filters.shape }),
  responses: { 200: Page(Delivery) },
  openPoints: ['OP-03', 'OP-60', 'OP-66', 'OP-100'],

  handle: ({ params: { id }, query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const found = await tx`select from endpoint where workspace_id = ${tx.context.workspaceId} and id = ${id}`
      if (found.length === 0) throw noSuchEndpoint(id)
      const page = { ...pageOf(query), ...NEWEST_FIRST }
      const event_types = query.event_type === undefined ? undefined : [query.event_type]
      const list = deliveriesOf(tx, id, { ...query, event_types })
      const [{ total, rows }] = await Promise.all([hourPage(tx, list, page), refuseUnknown(tx, page, list.all)])
      const deliveries = page.offset >= total ? [] : await tx`select ${deliveryColumns(tx)} from ${rows}`
      return ok(listView(query, total, deliveries))
    }),
})

/** The deliveries of an endpoint that pass the filters. */
export function deliveriesOf(tx: Transaction, endpointId: string, filters: Listed): HourList {
  const { status, event_types, event_id, since, until } = filters
  const ofEndpoint = tx`workspace_id = ${tx.context.workspaceId} and endpoint_id = ${endpointId}`
  const matches = matching(tx, endpointId, filters)
  const counted = tx`
    select hour, deliveries from hourly_delivery_count where ${ofEndpoint}
      ${since === undefined ? tx`` : tx`and hour > ${since}::timestamptz - interval '1 hour'`}
      ${until === undefined ? tx`` : tx`and hour < ${until}::timestamptz`}
      ${status === undefined ? tx`` : tx`and status = ${status}`}
      ${event_types === undefined ? tx`` : tx`and event_type = any(${[...event_types]})`}`
  // Of an event the endpoint has one delivery.
  const ofEvent = tx`
    select date_bin('1 hour', uuid_extract_timestamp(id), 'epoch') as hour, 1 as deliveries from delivery where ${matches}`
  return {
    table: tx`delivery`,
    time: 'id',
    bounds: boundsOf(tx, filters),
    matches,
    all: tx`from delivery where ${ofEndpoint}`,
    counts: (unit, isWanted) => tx`
      select at, sum(deliveries)::bigint as items
      from (
        select ${unit === 'HOUR' ? tx`hour` : tx`date_bin('1 day', hour, 'epoch')`} as at, deliveries
        from (${event_id === undefined ? counted : ofEvent}) as hourly
      ) as counted
      where ${isWanted} group by at having sum(deliveries) > 0`,
  }
}

/** Each combination of filters is a statement of its own, and so is its plan. What is PENDING is in `delivery_due`. */
const matching = (tx: Transaction, endpointId: string, { status, event_types, event_id, ...times }: Listed) => tx`
  workspace_id = ${tx.context.workspaceId} and endpoint_id = ${endpointId} and ${isWithin(tx, 'id', boundsOf(tx, times))}
  ${status === 'FAILED' ? tx`and status = 'FAILED'` : tx``}
  ${status === 'PENDING' ? tx`and due_at is not null and claimed_by is null` : tx``}
  ${status !== undefined && status !== 'FAILED' ? tx`and status = ${status}` : tx``}
  ${event_types === undefined ? tx`` : tx`and event_type = any(${[...event_types]})`}
  ${event_id === undefined ? tx`` : tx`and event_id = ${event_id}`}`
