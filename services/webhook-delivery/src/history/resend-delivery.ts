import { conflict } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { z } from 'zod'
import { notifyDue } from '../shards/notify-due.ts'
import { Delivery, deliveryColumns } from './delivery.ts'
import { DeliveryPath, noSuchDelivery } from './get-delivery.ts'

/** Requests of a day to send one delivery again, at most (OP-122). */
const RESENDS_A_DAY = 100

/**
 * POST /v1/webhooks/{id}/deliveries/{delivery_id}/resend (spec: "any delivery can be re-sent"): one more attempt now,
 * outside the schedule, whatever the delivery's status. A success settles it; a failure changes neither status nor
 * schedule (OP-66). Requests before the attempt are one attempt (OP-100). Each counts, since one that comes during an
 * attempt brings another.
 */
export const resendDelivery = operation({
  operationId: 'resendWebhookDelivery',
  method: 'POST',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}/resend',
  summary: 'Send a delivery again',
  scope: 'webhook::create',
  params: DeliveryPath,
  responses: { 202: Delivery },
  openPoints: ['OP-01', 'OP-08', 'OP-60', 'OP-66', 'OP-100', 'OP-122', 'OP-139', 'OP-171'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [delivery] = await requestResends(tx, placeOf(tx, params))
      if (delivery === undefined)
        throw (await placeOf(tx, params)).length > 0 ? tooManyResends() : noSuchDelivery(params)
      await notifyDue(tx, [params.id])
      return accepted(delivery)
    }),
})

/** The deliveries of these places, once they are to be sent again; without those that were too often today. */
export const requestResends = (tx: Transaction, places: SqlPart) => tx`
  update delivery set
    resend_at = today.at,
    resend_day = today.day,
    resends_that_day = case when resend_day = today.day then resends_that_day + 1 else 1 end
  from (${places}) as place, (select at, (at at time zone 'UTC')::date as day from clock_timestamp() as at) as today
  where delivery.workspace_id = ${tx.context.workspaceId} and delivery.endpoint_id = place.endpoint_id
    and delivery.id = place.id and delivery.event_id = place.event_id
    and (resend_day is distinct from today.day or resends_that_day < ${RESENDS_A_DAY})
  returning ${deliveryColumns(tx)}`

const placeOf = (tx: Transaction, { id, delivery_id }: z.output<typeof DeliveryPath>) => tx`
  select delivery.endpoint_id, delivery.id, delivery.event_id from delivery
  join endpoint on endpoint.workspace_id = delivery.workspace_id and endpoint.id = delivery.endpoint_id
  where delivery.workspace_id = ${tx.context.workspaceId} and delivery.endpoint_id = ${id} and delivery.id = ${delivery_id}`

const tooManyResends = () =>
  conflict(
    ['delivery_id'],
    `was to be sent again ${RESENDS_A_DAY} times today (UTC), as often as one delivery may be; send it again tomorrow`,
    'limit_reached',
  )
