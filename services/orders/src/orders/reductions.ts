import { isDeepStrictEqual } from 'node:util'
import { conflict } from '@backoffice/contracts/errors.ts'
import { CANCELLATION, RETURN } from '@backoffice/contracts/order.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { LineQuantity } from './line-quantities.ts'

/** What takes quantities from an order: the table and the columns of each. */
const KINDS = {
  cancellation: { table: 'cancellation', sql: CANCELLATION.sql },
  return: { table: 'goods_return', sql: RETURN.sql },
} as const

interface Reduction {
  readonly order: string
  readonly items: readonly SentQuantity[]
  readonly reference: string | null
}
interface SentQuantity extends LineQuantity {
  readonly restock?: boolean
}

/**
 * The cancellation or return of a reference, when the order has it already. Throws `conflict` when it was of other
 * quantities. The caller has locked the order.
 */
export async function presentReduction<Row extends Reduction>(
  tx: Transaction,
  kind: keyof typeof KINDS,
  order: string,
  reference: string | null | undefined,
  wanted: readonly SentQuantity[] | null | undefined,
): Promise<Row | undefined> {
  if (reference == null) return undefined
  const { table, sql } = KINDS[kind]
  const [present] = await tx<Row[]>`
    select ${tx.unsafe(sql.selected)} from ${tx(table)}
    where workspace_id = ${tx.context.workspaceId} and order_id = ${order} and reference = ${reference}`
  if (present !== undefined && wanted != null && !isDeepStrictEqual(sumsOf(present.items), sumsOf(wanted))) {
    throw conflict(
      ['reference'],
      `"${reference}" is the ${kind} of other quantities; send another reference for another one`,
      'reference_taken',
    )
  }
  return present
}

/** The sums of quantities, by line and by whether they are to be sold again. */
function sumsOf(items: readonly SentQuantity[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { id, quantity, restock = true } of items) {
    const key = `${id} ${restock}`
    sums.set(key, (sums.get(key) ?? 0) + quantity)
  }
  return sums
}

/** Inserts a cancellation or return. The caller has looked for its reference under the order's lock. */
export async function insertReduction(tx: Transaction, kind: keyof typeof KINDS, reduction: Reduction): Promise<void> {
  const { table, sql } = KINDS[kind]
  await tx`
    insert into ${tx(table)} (workspace_id, ${tx.unsafe(sql.columns)})
    select ${tx.context.workspaceId}, ${tx.unsafe(sql.members)}
    from json_to_recordset(${JSON.stringify([reduction])}::text::json) as row (${tx.unsafe(sql.row)})`
}
