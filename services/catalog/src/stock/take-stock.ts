import { type ApiError, conflict, memberMessage, unprocessable } from '@backoffice/contracts/errors.ts'
import { CurrencyCode, Id } from '@backoffice/contracts/fields.ts'
import { OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import type { ProductStatus } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { refreshRequests } from '../products/refresh-products.ts'
import { orderableColumns } from '../variants/read-variants.ts'
import { haveSameLines, readReservation, type SummedLine, sumLines, TakenLine, WantedLines } from './stock-lines.ts'

const Taken = z.strictObject({
  order: Id,
  lines: z.array(TakenLine),
  variants: z.array(OrderableVariant).optional(),
})
export type Taken = z.output<typeof Taken>

/**
 * POST /internal/stock/take: takes the stock of an order, all lines or none, once (OP-44, OP-71, OP-95, OP-213). With
 * `currency` it takes what has a price in it only, and answers the variants as well, so that a new order is priced from
 * what was taken; a repeated take answers none.
 */
export const takeStock = operation({
  method: 'POST',
  path: '/internal/stock/take',
  scope: 'internal',
  body: z.strictObject({ order: Id, lines: WantedLines, currency: CurrencyCode.optional() }),
  responses: { 200: Taken },

  async handle({ body: { order, lines, currency }, inWorkspace }) {
    const wanted = sumLines(lines)
    return inWorkspace(async (tx) => {
      const { taken, variants, unknown, unavailable, unpriced, short } = await take(tx, order, wanted, currency)
      if (taken === null) return ok({ order, lines: await linesTakenBefore(tx, order, wanted) })
      if (unknown.length > 0) throw unknownVariants(wanted, unknown)
      if (unavailable.length > 0) throw unavailableVariants(wanted, unavailable)
      if (unpriced.length > 0) throw unpricedVariants(wanted, unpriced, currency)
      if (short.length > 0) throw stockTooShort(wanted, short)
      return ok({ order, lines: taken, ...(currency !== undefined && { variants }) })
    })
  },
})

interface Take {
  /** Null when the order has a reservation already: then nothing was taken, and the other members mean nothing. */
  readonly taken: TakenLine[] | null
  /** Of the lines, when there is a currency. */
  readonly variants: OrderableVariant[]
  /** These are in the order of ids. The caller refuses them, which rolls the transaction back. */
  readonly unknown: string[]
  readonly unavailable: { variant: string; sku: string; status: ProductStatus }[]
  readonly unpriced: { variant: string; sku: string }[]
  readonly short: { variant: string; sku: string; stock: number }[]
}

const STOCK_MIN = Number.MIN_SAFE_INTEGER

/**
 * Writes the order's reservation and takes the variants with enough stock. Waits for a take or release of the same
 * order, then locks the variants in id order. The snapshot may be older than these locks, but a locked row is read in
 * its newest version. Whether a product can be ordered, or pre-ordered, is read from the snapshot: a take that began
 * before the change of a product may still succeed.
 */
async function take(tx: Transaction, order: string, wanted: readonly SummedLine[], currency?: string) {
  const workspace = tx.context.workspaceId
  const isPriced = currency !== undefined
  const members = tx`'id', id, 'sku', sku, 'title', title, 'status', status, 'price', price`
  const [result] = await tx<[Take]>`
    with stated as materialized ( -- in force when the ledger's trigger runs, which is at the end of the statement
      select set_config('app.stock_reason', 'taken', true), set_config('app.order_id', ${order}, true)
    ), wanted as materialized (
      select variant, quantity
      from json_to_recordset(${JSON.stringify(wanted)}::text::json) as wanted (variant uuid, quantity bigint)
    ), reserved as (
      insert into stock_reservation (workspace_id, order_id, state, lines, taken_at)
      select ${workspace}, ${order}, 'TAKEN', to_json(array(
        select json_build_object('variant', id, 'product', product_id, 'sku', sku, 'quantity', quantity)
        from wanted join variant on id = variant
        where workspace_id = ${workspace} and id = any(array(select variant from wanted))
        order by id
      )), now()
      from stated
      on conflict (workspace_id, order_id) do nothing
      returning lines
    ), locked as materialized (
      select ${isPriced ? orderableColumns(tx) : tx`variant.id, sku, status`}, stock, quantity, (
        stock >= quantity or stock >= ${STOCK_MIN} + quantity
          and can_preorder and (preorder_stops_at is null or preorder_stops_at > now())
      ) as is_enough
      from wanted
      join variant on variant.id = wanted.variant
      join product on product.workspace_id = ${workspace} and product.id = variant.product_id
      where variant.workspace_id = ${workspace} and variant.id = any(array(select variant from wanted))
        and exists (select from reserved)
      order by variant.id for no key update of variant
    ), changed as (
      update variant set stock = locked.stock - locked.quantity
      from locked
      where variant.workspace_id = ${workspace} and variant.id = locked.id and locked.is_enough
      returning variant.product_id
    ), requested as (
      select distinct product_id, true as is_change from changed
    ), refresh as ( -- OP-71
      ${refreshRequests(tx)}
    )
    select
      (select lines from reserved) as taken,
      array(select variant from wanted where variant not in (select id from locked) order by variant) as unknown,
      array(
        select json_build_object('variant', id, 'sku', sku, 'status', status) from locked
        where status <> 'ACTIVE' order by id
      ) as unavailable,
      ${isPriced ? tx`array(select json_build_object(${members}) from locked)` : tx`'{}'::json[]`} as variants,
      array(
        select json_build_object('variant', id, 'sku', sku) from locked
        where ${isPriced ? tx`not price ? ${currency}` : tx`false`} order by id
      ) as unpriced,
      array(
        select json_build_object('variant', id, 'sku', sku, 'stock', stock) from locked where not is_enough order by id
      ) as short`
  return result
}

async function linesTakenBefore(tx: Transaction, order: string, wanted: readonly SummedLine[]): Promise<TakenLine[]> {
  const { state, lines } = await readReservation(tx, order)
  if (state === 'RELEASED') throw conflict(['order'], `${order} was released; take stock for another order`)
  if (!haveSameLines(wanted, lines))
    throw conflict(['lines'], `order ${order} has taken other lines; release it and use another`)
  return lines
}

/** A reason about the first line with a variant, as `lines[2].variant: …`. */
function reasonAt(wanted: readonly SummedLine[], variant: string, member: string, reason: string): string {
  const path = wanted.find((line) => line.variant === variant)?.path ?? ['lines']
  return memberMessage([...path, member], reason)
}

function unknownVariants(wanted: readonly SummedLine[], unknown: readonly string[]): ApiError {
  const reasons = unknown.map((id) => reasonAt(wanted, id, 'variant', `this workspace has no variant ${id}`))
  return unprocessable([], reasons.join('; '), 'unknown_reference')
}

function unavailableVariants(wanted: readonly SummedLine[], unavailable: Take['unavailable']): ApiError {
  const reasons = unavailable.map(({ variant, sku, status }) =>
    reasonAt(wanted, variant, 'variant', `"${sku}" cannot be ordered while its product is ${status}`),
  )
  return unprocessable([], reasons.join('; '))
}

function unpricedVariants(wanted: readonly SummedLine[], unpriced: Take['unpriced'], currency = ''): ApiError {
  const reasons = unpriced.map(({ variant, sku }) =>
    reasonAt(wanted, variant, 'variant', `"${sku}" has no price in ${currency}`),
  )
  return unprocessable([], reasons.join('; '))
}

function stockTooShort(wanted: readonly SummedLine[], short: Take['short']): ApiError {
  const reasons = short.map(({ variant, sku, stock }) =>
    reasonAt(wanted, variant, 'quantity', `only ${Math.max(stock, 0)} of "${sku}" left`),
  )
  return conflict([], reasons.join('; '), 'short_stock')
}
