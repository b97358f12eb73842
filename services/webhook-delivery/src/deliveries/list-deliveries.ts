import { Id, TimestampInput } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { noSuchEndpoint } from '../endpoints/get-endpoint.ts'
import { DELIVERY_STATUSES, Delivery, type DeliveryRow, deliveryColumns, deliveryView } from './delivery.ts'

/** `since` and `until` are about `created_at`: from the one on, and before the other (OP-100). */
const Filters = z.strictObject({
  status: z.enum(DELIVERY_STATUSES).optional(),
  event_type: z.string().min(1).max(255).optional(),
  event_id: Id.optional(),
  since: TimestampInput.optional(),
  until: TimestampInput.optional(),
})
type Filters = z.output<typeof Filters>

/** GET /v1/webhooks/{id}/deliveries (spec: Webhooks): an endpoint's deliveries, newest first. */
export const listDeliveries = operation({
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
      const matching = matchingDeliveries(tx, params.id, query)
      const [[found], rows] = await Promise.all([
        tx<{ total: number }[]>`
          select (select count(*) from delivery where ${matching}) as total
          from endpoint where workspace_id = ${tx.context.workspaceId} and id = ${params.id}`,
        tx<DeliveryRow[]>`
          select ${deliveryColumns(tx)} from delivery where ${matching} order by id desc limit ${size} offset ${offset}`,
      ])
      if (found === undefined) throw noSuchEndpoint(params.id)
      return ok(pageView(page, size, found.total, rows.map(deliveryView)))
    })
  },
})

/** Each combination of filters is a statement of its own, and so is its plan. */
const matchingDeliveries = (tx: Transaction, endpointId: string, filters: Filters) => tx`
  delivery.workspace_id = ${tx.context.workspaceId} and delivery.endpoint_id = ${endpointId}
  ${filters.status === 'FAILED' ? tx`and delivery.status = 'FAILED'` : tx``}
  ${filters.status !== undefined && filters.status !== 'FAILED' ? tx`and delivery.status = ${filters.status}` : tx``}
  ${filters.event_type === undefined ? tx`` : tx`and delivery.event_type = ${filters.event_type}`}
  ${filters.event_id === undefined ? tx`` : tx`and delivery.event_id = ${filters.event_id}`}
  ${filters.since === undefined ? tx`` : tx`and delivery.created_at >= ${filters.since}`}
  ${filters.until === undefined ? tx`` : tx`and delivery.created_at < ${filters.until}`}`
