import { conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { PAYMENT, Payment } from '@backoffice/contracts/order.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created, ok } from '@backoffice/http/reply.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { z } from 'zod'
import { changeOrder } from '../orders/change-order.ts'
import { lockOrder, type OrderRecord } from '../orders/order.ts'
import { isPaidCart } from '../orders/order-states.ts'
import { type PlaceWithStock, placePaid } from '../orders/place-order.ts'
import { tryPlacement } from '../placements/placement.ts'

const PaymentBody = namedObject('PaymentInput', PAYMENT.shapes.create, {
  amount: 10300,
  currency: 'EUR',
  provider: 'example-pay',
  reference: 'pay_8271',
})
type PaymentBody = z.output<typeof PaymentBody>

/** A payment as the database has it. */
export type PaymentRecord = RecordOf<typeof PAYMENT>

/**
 * POST /v1/orders/{id}/payments (extension of OP-43): records a payment, whatever the state of the order (OP-47). A
 * repeated reference of the same provider answers the payment that is there. An order at CART that becomes PAID is then
 * placed, if its stock can be taken: at once, or later by `placePaidOrders`.
 */
export const recordPayment = (db: Database, place: PlaceWithStock, logger: Logger) =>
  operation({
    operationId: 'recordOrderPayment',
    method: 'POST',
    path: '/v1/orders/{id}/payments',
    summary: 'Record a payment of an order',
    scope: 'sale::create',
    body: PaymentBody,
    responses: { 200: Payment, 201: Payment },
    events: ['order.updated', 'order.paid', 'invoice.paid'],
    openPoints: ['OP-08', 'OP-43', 'OP-45', 'OP-47', 'OP-48', 'OP-142', 'OP-202', 'OP-204', 'OP-215'],
    extension: true,

    async handle({ params: { id }, body, context, now, inWorkspace }) {
      let isToBePlaced = false
      const reply = await inWorkspace(async (tx) => {
        const order = await lockOrder(tx, id)
        const payment = newPayment(order, body, now)
        if (!(await insertPayment(tx, payment))) {
          isToBePlaced = false
          return ok(PAYMENT.answerOf(sameAmount(await findPayment(tx, payment), payment)))
        }
        const after = await changeOrder(tx, order, { paid: sumPaid(order, payment) }, now)
        isToBePlaced = isPaidCart(after) && !isPaidCart(order)
        return created(PAYMENT.answerOf(payment))
      })
      if (isToBePlaced) await tryPlacement({ db, logger }, context, id, () => placePaid(place)(context, id, now))
      return reply
    },
  })

/** The payment of a request. Throws `unprocessable` for an amount that is not positive (OP-48). */
function newPayment(order: OrderRecord, body: PaymentBody, now: Date): PaymentRecord {
  if (body.amount <= 0) throw unprocessable(['amount'], 'must be above 0')
  const { amount, currency, reference } = body
  const blank = { ...PAYMENT.initial, id: newId(), order: order.id, amount, currency, reference, createdAt: now }
  return PAYMENT.changed(blank, body)
}

/**
 * The sum of the order's payments with a new one. Throws `unprocessable` for another currency than the order's (OP-48),
 * and for a sum beyond 2^53−1.
 */
function sumPaid({ currency, paid }: OrderRecord, payment: PaymentRecord): number {
  if (payment.currency !== currency) {
    throw unprocessable(['currency'], `must be that of the order, which is ${currency}`)
  }
  const sum = paid + payment.amount
  if (Number.isSafeInteger(sum)) return sum
  throw unprocessable(
    ['amount'],
    `makes a sum of payments above ${Number.MAX_SAFE_INTEGER}, the highest there can be; send less`,
  )
}

/** Inserts a payment; returns false when its provider has reported this reference. The caller has locked the order. */
async function insertPayment(tx: Transaction, payment: PaymentRecord): Promise<boolean> {
  const inserted = await tx`
    insert into payment (workspace_id, ${tx.unsafe(PAYMENT.sql.columns)})
    select ${tx.context.workspaceId}, ${tx.unsafe(PAYMENT.sql.members)}
    from json_to_recordset(${JSON.stringify([payment])}::text::json) as row (${tx.unsafe(PAYMENT.sql.row)})
    on conflict do nothing
    returning id`
  return inserted.length > 0
}

/** The recorded payment of the same provider, or also of none, and reference. */
async function findPayment(tx: Transaction, { order, provider, reference }: PaymentRecord) {
  const [payment] = await tx<[PaymentRecord]>`
    select ${tx.unsafe(PAYMENT.sql.selected)} from payment
    where workspace_id = ${tx.context.workspaceId} and order_id = ${order}
      and provider is not distinct from ${provider} and coalesce(sent_reference, reference) = ${reference}`
  return payment
}

/** The recorded payment. Throws `conflict` when its amount or currency is not that of the request. */
function sameAmount(recorded: PaymentRecord, { reference, amount, currency }: PaymentRecord): PaymentRecord {
  if (recorded.amount === amount && recorded.currency === currency) return recorded
  throw conflict(
    ['reference'],
    `"${reference}" is the payment of ${recorded.amount} ${recorded.currency}; send another reference for another payment`,
    'reference_taken',
  )
}
