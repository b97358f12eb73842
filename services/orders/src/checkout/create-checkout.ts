import { CheckoutSession } from '@backoffice/contracts/app.ts'
import { Provider } from '@backoffice/contracts/app-manifest.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation, type ReadAhead } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { isInvoicePaid } from '../orders/invoice.ts'
import { noSuchOrder, type OrderRecord, readOrder } from '../orders/order.ts'
import { openSumOf } from '../orders/order-states.ts'
import { AcceptPrices, type PlaceWithStock } from '../orders/place-order.ts'
import type { CheckoutApps } from './checkout-apps.ts'

const CheckoutBody = namedObject(
  'CheckoutInput',
  { provider: Provider, accept_prices: AcceptPrices },
  { provider: 'example-pay' },
)

/**
 * POST /v1/orders/{id}/checkout (extension of OP-85): asks an installed app for a checkout of what is open on the
 * order. An order at CART is placed first (OP-44); it stays PLACED when the app refuses, so the request can be
 * repeated.
 */
export const createCheckout = (place: PlaceWithStock, apps: CheckoutApps) =>
  operation({
    operationId: 'createOrderCheckout',
    method: 'POST',
    path: '/v1/orders/{id}/checkout',
    summary: 'Start a checkout of an order with an installed app',
    scope: 'sale::create',
    body: CheckoutBody,
    responses: { 201: CheckoutSession },
    events: ['order.updated', 'order.paid', 'invoice.paid'],
    openPoints: ['OP-08', 'OP-44', 'OP-71', 'OP-85', 'OP-206', 'OP-213', 'OP-214'],
    extension: true,

    async handle({
      params: { id },
      body: { provider, accept_prices: acceptsPrices },
      context,
      now,
      idempotencyKey,
      inWorkspace,
      storedAnswer,
      readAhead,
      giveTurnBack,
      expectBytes,
    }) {
      const stored = await storedAnswer()
      if (stored) return stored
      await readAhead(async (tx) => requireOpen(await readOrder(tx, id), (read) => read(tx)))
      const placed = await place(context, id, now, { acceptsPrices, readAhead, expectBytes })
      const { amountMinor, currency } = await requireOpen(placed, readAhead)
      const order = { orderId: id, amountMinor, currency }
      // The app takes its time, and others wait for the turn.
      giveTurnBack()
      const session = await apps.createCheckout(context, provider, order, idempotencyKey)
      return inWorkspace(async (tx) => {
        const [found] = await tx<Pick<OrderRecord, 'status'>[]>`
          select status from sales_order where workspace_id = ${tx.context.workspaceId} and id = ${id}`
        if (found === undefined) throw noSuchOrder(id)
        requireStatus(found)
        return created(session)
      })
    },
  })

function requireStatus({ status }: Pick<OrderRecord, 'status'>): void {
  if (status === 'CANCELLED' || status === 'COMPLETED') {
    throw conflict(
      ['status'],
      `an order that is ${status} has no checkout; record what is paid with POST /v1/orders/{id}/payments`,
    )
  }
}

/**
 * What is left to pay, in minor units. Throws `conflict` when the order is cancelled or completed, or nothing is left.
 * Of a REFUNDED order `run` reads the invoice.
 */
async function requireOpen(order: OrderRecord, run: ReadAhead) {
  requireStatus(order)
  const { paymentStatus, totalPrice, currency } = order
  const readPaid = async (tx: Transaction) => {
    const [invoice] = await tx<[{ isPaid: boolean }]>`select ${isInvoicePaid(tx, tx`${order.id}`)} as "isPaid"`
    return invoice.isPaid
  }
  const amountMinor = openSumOf({ ...order, isInvoicePaid: paymentStatus === 'REFUNDED' && (await run(readPaid)) })
  if (amountMinor <= 0) {
    throw conflict(
      ['payment_status'],
      `nothing is left to pay: the order is ${paymentStatus}, of ${totalPrice} ${currency}; it needs no checkout`,
    )
  }
  return { amountMinor, currency }
}
