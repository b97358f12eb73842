import { conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { REFUND, Refund } from '@backoffice/contracts/refund.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created, ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { z } from 'zod'
import { changeOrder } from '../orders/change-order.ts'
import { lockOrder, type OrderRecord } from '../orders/order.ts'
import { issueCreditNote } from './credit-note.ts'

const RefundBody = namedObject('RefundInput', REFUND.shapes.create, {
  amount: 4900,
  currency: 'EUR',
  payment: '0198c7a0-0000-7000-8000-000000000032',
  reference: 're_8271',
  reason: 'One shirt was torn',
})
type RefundBody = z.output<typeof RefundBody>

/** A refund as the database has it. */
export type RefundRecord = RecordOf<typeof REFUND>

/**
 * POST /v1/orders/{id}/refunds (extension): records what was given back to the customer, whatever the state of the
 * order (OP-201). A repeated reference answers the refund that is there. A refund of what was invoiced and is not owed
 * again gets a credit note (OP-203).
 */
export const recordRefund = operation({
  operationId: 'recordOrderRefund',
  method: 'POST',
  path: '/v1/orders/{id}/refunds',
  summary: 'Record a refund of an order',
  scope: 'sale::create',
  body: RefundBody,
  responses: { 200: Refund, 201: Refund },
  events: ['order.updated'],
  openPoints: ['OP-08', 'OP-201', 'OP-202', 'OP-203', 'OP-204'],
  extension: true,

  handle: ({ params: { id }, body, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const order = await lockOrder(tx, id)
      const refund = newRefund(order, body, now)
      const inserted = await insertRefund(tx, refund)
      if (inserted === undefined) return ok(REFUND.answerOf(await sameRefund(tx, refund)))
      requireLeft(order, refund, inserted.leftOfPayment)
      const after = await changeOrder(tx, order, { refunded: order.refunded + refund.amount }, now)
      await issueCreditNote(tx, after, refund, now)
      return created(REFUND.answerOf(refund))
    }),
})

/** The refund of a request. Throws `unprocessable` for an amount that is not positive. */
function newRefund(order: OrderRecord, body: RefundBody, now: Date): RefundRecord {
  if (body.amount <= 0) throw unprocessable(['amount'], 'must be above 0')
  const { amount, currency, reference } = body
  const blank = { ...REFUND.initial, id: newId(), order: order.id, amount, currency, reference, createdAt: now }
  return REFUND.changed(blank, body)
}

/**
 * Inserts a refund; returns undefined when the order has a refund of its reference. Otherwise it returns what was left
 * of the payment before: null without such a payment.
 */
async function insertRefund(tx: Transaction, refund: RefundRecord) {
  const workspace = tx.context.workspaceId
  const [inserted] = await tx<{ leftOfPayment: number | null }[]>`
    insert into refund (workspace_id, ${tx.unsafe(REFUND.sql.columns)})
    select ${workspace}, ${tx.unsafe(REFUND.sql.members)}
    from json_to_recordset(${JSON.stringify([refund])}::text::json) as row (${tx.unsafe(REFUND.sql.row)})
    on conflict (workspace_id, order_id, reference) do nothing
    returning (
      select amount - (
        select coalesce(sum(amount), 0) from refund as former
        where former.workspace_id = ${workspace} and former.order_id = payment.order_id and former.payment_id = payment.id
      )::bigint
      from payment where workspace_id = ${workspace} and order_id = ${refund.order} and id = ${refund.payment}
    ) as "leftOfPayment"`
  return inserted
}

/** Throws `unprocessable` for more than is left of the order's payments, or the payment, and for another currency. */
function requireLeft({ paid, refunded, currency }: OrderRecord, refund: RefundRecord, leftOfPayment: number | null) {
  if (refund.currency !== currency) {
    throw unprocessable(['currency'], `must be that of the order, which is ${currency}`)
  }
  if (refund.payment !== null && leftOfPayment === null) {
    throw unprocessable(
      ['payment'],
      `the order has no payment ${refund.payment}; send the id of one of its payments, or leave it out`,
      'unknown_reference',
    )
  }
  const left = Math.min(paid - refunded, leftOfPayment ?? Number.POSITIVE_INFINITY)
  if (refund.amount <= left) return
  const of = left === leftOfPayment ? 'payment' : 'order'
  throw unprocessable(['amount'], `must be at most ${left} ${currency}, which is left of what was paid with the ${of}`)
}

/** The recorded refund of the same reference. Throws `conflict` when its amount, currency or payment is another one. */
async function sameRefund(tx: Transaction, { order, reference, amount, currency, payment }: RefundRecord) {
  const [refund] = await tx<[RefundRecord]>`
    select ${tx.unsafe(REFUND.sql.selected)} from refund
    where workspace_id = ${tx.context.workspaceId} and order_id = ${order} and reference = ${reference}`
  if (refund.amount === amount && refund.currency === currency && refund.payment === payment) return refund
  const of = refund.payment === null ? 'the order' : `payment ${refund.payment}`
  throw conflict(
    ['reference'],
    `"${reference}" is the refund of ${refund.amount} ${refund.currency} of ${of}; send another reference for another refund`,
    'reference_taken',
  )
}
