import { randomUUID } from 'node:crypto'
import type { Product } from '@backoffice/contracts/product.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import type { TestDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import type { z } from 'zod'
import { createProduct } from '../../products/create-product.ts'
import { aSimpleProduct } from '../../products/testing/product-samples.ts'
import { ledgerDifferences } from '../check-ledger.ts'
import { type Released, releaseStock } from '../release-stock.ts'
import { returnStock } from '../return-stock.ts'
import type { WantedLines } from '../stock-lines.ts'
import { type Taken, takeStock } from '../take-stock.ts'

export type Line = z.output<typeof WantedLines>[number]

/** Takes and releases stock of products of a workspace of its own; every answer is checked against its declaration. */
export function stockClient({ admin, db }: Pick<TestDatabase, 'admin' | 'db'>, caller = aCaller()) {
  const send = serviceClient(db, [createProduct, takeStock, releaseStock, returnStock])
  const context = { ...caller, traceparent: 'trace' }
  return {
    caller,
    context,
    /** A SIMPLE product's id, with its variant's id and SKU. */
    async variant(stock: number, differences: Record<string, unknown> = {}) {
      const { body } = await send<Product>(caller, 'POST', '/v1/products', aSimpleProduct({ stock, ...differences }))
      const { id = '', sku = '' } = body.variants[0] ?? {}
      return { product: body.id, id, sku }
    },
    take: <Body = Taken>(lines: readonly Line[], reservation: string = randomUUID(), currency?: string) =>
      send<Body>(caller, 'POST', '/internal/stock/take', { order: reservation, lines, ...(currency && { currency }) }),
    release: <Body = Released>(reservation: string) =>
      send<Body>(caller, 'POST', '/internal/stock/release', { order: reservation }),
    /** Gives back parts of what a reservation has taken; all is restocked unless it says otherwise. */
    giveBack: (reservation: string, lines: readonly (Line & { restock?: boolean })[], id: string = randomUUID()) =>
      send(caller, 'POST', '/internal/stock/return', {
        ...{ order: reservation, id, lines: lines.map((line) => ({ restock: true, ...line })) },
      }),
    /** Deletes a product with its variants. */
    remove: (product: string) => db.inWorkspace(context, (tx) => tx`delete from product where id = ${product}`),
    async stockOf(variant: string): Promise<number | undefined> {
      const [row] = await admin<{ stock: number }[]>`select stock::float8 as stock from variant where id = ${variant}`
      return row?.stock
    },
    /** Movements of a variant after the one that made it. */
    async movements(variant: string) {
      const rows = await admin<{ delta: number; reason: string; order_id: string; actor: string }[]>`
        select delta::float8 as delta, reason, order_id, actor from stock_movement
        where variant_id = ${variant} and reason <> 'created' order by id`
      return [...rows]
    },
    ledgerDifferences: () => Array.fromAsync(ledgerDifferences(admin)),
  }
}
