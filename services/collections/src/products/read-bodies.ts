import type { Product } from '@backoffice/contracts/product.ts'
import { type ProductData, productOf } from '@backoffice/contracts/product-records.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { LargeRead, mostBytesOf, readSized, type WantedRows } from '@backoffice/postgres/lists/sized-rows.ts'

/** About how many bytes the body of a row of `product` has. To measure it exactly, PostgreSQL would decompress it. */
const bodyBytes = (tx: Transaction): SqlPart =>
  tx`pg_column_size(product.body) * case when pg_column_compression(product.body) is null then 1 else 4 end`

/** A row of a page that one statement reads with its total: without `id` where the page has no products. */
export interface BodyRow {
  readonly id: string | null
  readonly bytes: number | null
  /** Null also where the bodies of the page have more bytes than may be read at once. */
  readonly body: ProductData | null
}

/** The columns of a BodyRow, from all rows of `product` that are on the page. */
export const bodyColumns = (tx: Transaction): SqlPart => tx`
  product.id, ${bodyBytes(tx)} as bytes,
  case when (sum(${bodyBytes(tx)}) over ())::bigint <= ${mostBytesOf(tx)} then product.body end as body`

/** The answers of the page's products, or what there would be to read (OP-192). */
export function productsOf(rows: readonly BodyRow[]): Product[] | LargeRead {
  const sizes = rows.flatMap(({ id, bytes }) => (id === null ? [] : { id, bytes: bytes ?? 0 }))
  const bodies = rows.flatMap(({ body }) => (body === null ? [] : [productOf(body)]))
  return bodies.length < sizes.length ? new LargeRead(sizes) : bodies
}

/** Reads the answers of products. */
export async function readBodies(tx: Transaction, wanted: WantedRows): Promise<Product[]> {
  const source = tx`from product where workspace_id = ${tx.context.workspaceId}`
  const rows = await readSized<{ body: ProductData }>(tx, {
    ...wanted,
    columns: tx`body`,
    source,
    bytes: bodyBytes(tx),
  })
  return rows.map(({ body }) => productOf(body))
}
