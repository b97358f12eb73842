import { type ApiError, conflict, type RefusedMember, refusedMembers } from '@backoffice/contracts/errors.ts'
import { CurrencyCode, Id } from '@backoffice/contracts/fields.ts'
import { noPrice, notOrderable, noVariant, OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
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
 * POST /internal/stock/take: takes the stock of a reservation, which the wire calls `order`: all lines or none, once
 * (OP-44, OP-71, OP-95, OP-213). With `currency` it takes what has a price in it only, and answers the variants as
 * well, so that a new order is priced from what was taken; a repeated take answers none.
 */
export const takeStock = operation({
  method: 'POST',
  path: '/internal/stock/take',
  scope: 'internal',
  body: z.strictObject({ order: Id, lines: WantedLines, currency: CurrencyCode.optional() }),
  responses: { 200: Taken },

  async handle({ body: { order: reservation, lines, currency }, inWorkspace }) {
    const wanted = sumLines(lines)
    return inWorkspace(async (tx) => {
      const { taken, variants, unknown, unavailable, unpriced, short } = await take(tx, reservation, wanted, currency)
      if (taken === null) return ok({ order: reservation, lines: await linesTakenBefore(tx, reservation, wanted) })
      if (unknown.length > 0) throw unknownVariants(wanted, unknown)
      if (unavailable.length > 0) throw unavailableVariants(wanted, unavailable)
      if (unpriced.length > 0) throw unpricedVariants(wanted, unpriced, currency)
      if (short.length > 0) throw stockTooShort(wanted, short)
      return ok({ order: reservation, lines: taken, ...(currency !== undefined && { variants }) })
    })
  },
})

interface Take {
  /** Null when the reservation is there already: then nothing was taken, and the other members mean nothing. */
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
 * Writes the reservation and takes the variants with enough stock. Waits for a take or release of the same
 * reservation, then locks the variants in id order. The snapshot may be older than these locks, but a locked row is
 * read in its newest version. Whether a product can be ordered, or pre-ordered, is read from the snapshot: a take that
 * began before the change of a product may still succeed.
 */
async function take(tx: Transaction, reservation: string, wanted: readonly SummedLine[], currency?: string) {
  const workspace = tx.context.workspaceId
  const isPriced = currency !== undefined
  const members = tx`'id', id, 'sku', sku, 'title', title, 'status', status, 'price', price`
  const [result] = await tx<[Take]>`
    with stated as materialized ( -- in force when the ledger's trigger runs, which is at the end of the statement
      select set_config('app.stock_reason', 'taken', true), set_config('app.order_id', ${reservation}, true)
    ), wanted as materialized (
      select variant, quantity
      from json_to_recordset(${JSON.stringify(wanted)}::text::json) as wanted (variant uuid, quantity bigint)
    ), reserved as (
      insert into stock_reservation (workspace_id, order_id, state, lines, taken_at)
      select ${workspace}, ${reservation}, 'TAKEN', to_json(array(
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

async function linesTakenBefore(
  tx: Transaction,
  reservation: string,
  wanted: readonly SummedLine[],
): Promise<TakenLine[]> {
  const { state, lines } = await readReservation(tx, reservation)
  if (state === 'RELEASED')
    throw conflict(['order'], `reservation ${reservation} was released; take stock under another id`)
  if (!haveSameLines(wanted, lines))
    throw conflict(['lines'], `reservation ${reservation} has taken other lines; release it and use another`)
  return lines
}

/** What is said about the first line with a variant. */
function aboutLine(wanted: readonly SummedLine[], variant: string, member: string, reason: string): RefusedMember {
  const path = wanted.find((line) => line.variant === variant)?.path ?? ['lines']
  return { path: [...path, member], reason }
}

function unknownVariants(wanted: readonly SummedLine[], unknown: readonly string[]): ApiError {
  const members = unknown.map((id) => aboutLine(wanted, id, 'variant', noVariant('id', id)))
  return refusedMembers('unprocessable', members, 'unknown_reference')
}

function unavailableVariants(wanted: readonly SummedLine[], unavailable: Take['unavailable']): ApiError {
  const members = unavailable.map((of) => aboutLine(wanted, of.variant, 'variant', notOrderable(of.sku, of.status)))
  return refusedMembers('unprocessable', members)
}

function unpricedVariants(wanted: readonly SummedLine[], unpriced: Take['unpriced'], currency = ''): ApiError {
  const members = unpriced.map(({ variant, sku }) => aboutLine(wanted, variant, 'variant', noPrice(sku, currency)))
  return refusedMembers('unprocessable', members)
}

function stockTooShort(wanted: readonly SummedLine[], short: Take['short']): ApiError {
  const members = short.map(({ variant, sku, stock }) => aboutLine(wanted, variant, 'quantity', tooFew(sku, stock)))
  return refusedMembers('conflict', members, 'short_stock')
}

function tooFew(sku: string, stock: number): string {
  const fix = stock > 0 ? `order ${stock} at most` : 'leave it out, or wait for stock'
  return `only ${Math.max(stock, 0)} of "${sku}" left; ${fix}`
}
