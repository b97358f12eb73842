import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { FULFILLMENT, Fulfillment } from '@backoffice/contracts/order.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord } from '@backoffice/postgres/outbox.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import { changeOrder } from '../orders/change-order.ts'
import { type ItemRecord, lockOrder } from '../orders/order.ts'
import { planFulfillment } from './plan-fulfillment.ts'

/** A fulfilment as the database has it. */
export type FulfillmentRecord = RecordOf<typeof FULFILLMENT>

const FulfillmentBody = namedObject(
  'FulfillmentInput',
  {
    items: z
      .array(namedObject('FulfillmentItemInput', { id: Id, quantity: z.int().min(1) }))
      .min(1)
      .max(LIMITS.idsPerCall)
      .nullish(),
  },
  { items: [{ id: '0198c7a0-0000-7000-8000-000000000031', quantity: 1 }] },
)

/** POST /v1/orders/{id}/fulfillments (extension of OP-43): fulfils the items that are sent, or all that is open. */
export const createFulfillment = operation({
  operationId: 'createOrderFulfillment',
  method: 'POST',
  path: '/v1/orders/{id}/fulfillments',
  summary: 'Fulfil items of an order',
  scope: 'sale::create',
  body: FulfillmentBody.optional(),
  responses: { 201: Fulfillment },
  events: ['fulfillment.created', 'order.updated'],
  openPoints: ['OP-08', 'OP-43', 'OP-48', 'OP-67', 'OP-145', 'OP-207'],
  extension: true,

  handle: ({ params: { id }, body, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const order = await lockOrder(tx, id)
      const items = planFulfillment(order, body?.items)
      const fulfillment = { id: newId(), order: id, items, createdAt: now }
      const answer = FULFILLMENT.answerOf(fulfillment)
      await insertFulfillment(tx, fulfillment)
      await changeOrder(tx, order, { items: withFulfilled(order.items, items) }, now, {
        // The order's key keeps it in order with order.updated (OP-67).
        events: [outboxRecord(TOPICS.ordersEvents, 'fulfillment.created', id, answer)],
      })
      return created(answer)
    }),
})

/** The items with what a fulfilment adds. */
export function withFulfilled(items: readonly ItemRecord[], fulfilled: FulfillmentRecord['items']): ItemRecord[] {
  const quantities = new Map(fulfilled.map(({ id, quantity }) => [id, quantity]))
  return items.map((item) => ({ ...item, fulfilled: item.fulfilled + (quantities.get(item.id) ?? 0) }))
}

/** Inserts a fulfilment and adds its quantities to the items. A constraint refuses more than was ordered. */
async function insertFulfillment(tx: Transaction, { id, order, items, createdAt }: FulfillmentRecord): Promise<void> {
  const workspace = tx.context.workspaceId
  const lines = JSON.stringify(items)
  await tx`
    with new_fulfillment as (
      insert into fulfillment (workspace_id, order_id, id, items, created_at)
      values (${workspace}, ${order}, ${id}, ${lines}::text::json, ${createdAt})
    )
    update order_item set fulfilled = fulfilled + line.quantity
    from json_to_recordset(${lines}::text::json) as line (id uuid, quantity bigint)
    where workspace_id = ${workspace} and order_id = ${order} and order_item.id = line.id`
}
