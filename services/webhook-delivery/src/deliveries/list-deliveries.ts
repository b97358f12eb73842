import { notFound } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { Delivery, type DeliveryRow, deliveryView } from './delivery.ts'

/** GET /v1/webhooks/{id}/deliveries (spec: Webhooks): an endpoint's deliveries, newest first. */
export const listDeliveries = operation({
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'List the deliveries of a webhook endpoint',
  scope: 'webhook::read',
  params: z.strictObject({ id: Id }),
  query: PageQuery,
  responses: { 200: Page(Delivery) },
  openPoints: ['OP-03', 'OP-60', 'OP-66'],

  async handle({ params, query, inWorkspace }) {
    const { page, size, offset } = pageOf(query)
    return inWorkspace(async (tx) => {
      const [total, rows] = await Promise.all([
        countDeliveries(tx, params.id),
        selectDeliveries(tx, params.id, size, offset),
      ])
      if (total === undefined) throw notFound(`there is no webhook endpoint ${params.id}`)
      return ok(pageView(page, size, total, rows.map(deliveryView)))
    })
  },
})

/** Undefined when the workspace has no such endpoint. */
async function countDeliveries(tx: Transaction, endpointId: string): Promise<number | undefined> {
  const { workspaceId } = tx.context
  const [row] = await tx<{ count: number }[]>`
    select (
      select count(*) from delivery where workspace_id = ${workspaceId} and endpoint_id = endpoint.id
    ) as count
    from endpoint where workspace_id = ${workspaceId} and id = ${endpointId}`
  return row?.count
}

/** The page is cut before events are joined, so that a late page does not join all it skips. */
const selectDeliveries = (tx: Transaction, endpointId: string, size: number, offset: number) => tx<DeliveryRow[]>`
  select d.id, d.event_id, e.type as event_type, d.status, d.attempts_made, d.next_attempt_at, d.created_at, d.delivered_at
  from (
    select * from delivery
    where workspace_id = ${tx.context.workspaceId} and endpoint_id = ${endpointId}
    order by id desc limit ${size} offset ${offset}
  ) d join event e on e.workspace_id = d.workspace_id and e.id = d.event_id
  order by d.id desc`
