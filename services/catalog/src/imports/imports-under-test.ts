import { randomUUID } from 'node:crypto'
import type { ImportResult, Template } from '@backoffice/contracts/imports.ts'
import type { Product, ProductState } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { createProduct } from '../products/create-product.ts'
import { getProduct } from '../products/get-product.ts'
import { updateProduct } from '../products/update-product.ts'
import { applyImportBatches } from './apply-import-batches.ts'

/** What says which batch it is and what the workspace allows; the rest is its rows. */
interface BatchDifferences {
  readonly importId?: string
  readonly batch?: number
  readonly statuses?: readonly string[]
}

/** A record of `imports.batches` with these rows, the first of which is row 2 of the spreadsheet. */
export const aBatch = (
  { workspaceId, livemode }: Caller,
  template: Template,
  rows: readonly object[],
  { importId = randomUUID(), batch = 0, statuses = ['ACTIVE', 'HIDDEN', 'ARCHIVED'] }: BatchDifferences = {},
) => ({
  id: randomUUID(),
  type: `batch.${template}`,
  workspace_id: workspaceId,
  livemode,
  occurred_at: new Date().toISOString(),
  data: {
    import_id: importId,
    batch,
    template,
    product_statuses: statuses,
    rows: rows.map((values, index) => ({ row: index + 2, values })),
  },
})

/** The catalog's side of imports over a database of its own, beside its product operations. */
export async function importsUnderTest() {
  const { admin, db, takeStatements } = await testDatabase('catalog')
  const send = serviceClient(db, [createProduct, getProduct, updateProduct])
  const { handle } = applyImportBatches(() => undefined)

  const apply = async (record: ReturnType<typeof aBatch>): Promise<ImportResult['rows']> => {
    const received = { topic: 'imports.batches', partition: 0, offset: '0', key: record.data.import_id }
    await inTransaction(db.sql, (tx) => handle([{ ...received, value: record, traceparent: undefined }], tx))
    const [answer] = await admin<{ payload: ImportResult }[]>`
      select payload from outbox
      where topic = 'imports.results' and key = ${record.data.import_id}
        and (payload ->> 'batch')::int = ${record.data.batch}`
    return answer?.payload.rows ?? []
  }
  return {
    admin,
    db,
    takeStatements,
    send,
    apply,
    /** Applies these rows as one batch and returns what became of each. */
    run: (caller: Caller, template: Template, rows: readonly object[], differences?: BatchDifferences) =>
      apply(aBatch(caller, template, rows, differences)),

    /** The statuses of the rows, and of a failed one the column, code and message. */
    async outcomes(caller: Caller, template: Template, rows: readonly object[], differences?: BatchDifferences) {
      const results = await apply(aBatch(caller, template, rows, differences))
      return results.map(({ status, errors: [error] }) =>
        error === undefined ? status : `${error.column} ${error.code}: ${error.message}`,
      )
    },

    create: async (caller: Caller, body: unknown) => (await send<Product>(caller, 'POST', '/v1/products', body)).body,

    /** The product's body by the SKU of one of its variants. */
    async productOf(caller: Caller, sku: string): Promise<Product> {
      const [row] =
        await admin`select product_id from variant where workspace_id = ${caller.workspaceId} and sku = ${sku}`
      return (await send<Product>(caller, 'GET', `/v1/products/${row?.product_id}`)).body
    },

    slugsOf: async ({ workspaceId }: Caller): Promise<string[]> =>
      (await admin`select slug from product where workspace_id = ${workspaceId} order by id`).map(({ slug }) => slug),

    /** What the outbox holds for the workspace, oldest first, but for answers to imports. */
    recordsOf: async ({ workspaceId }: Caller) => [
      ...(await admin<{ topic: string; type: string; key: string; payload: ProductState }[]>`
        select topic, type, key, payload from outbox
        where workspace_id = ${workspaceId} and topic <> 'imports.results' order by id`),
    ],

    /** Rows of the ledger, oldest first. */
    movementsOf: async ({ workspaceId }: Caller) => [
      ...(await admin`
        select sku, delta, reason, actor from stock_movement join variant on variant.id = variant_id
        where stock_movement.workspace_id = ${workspaceId} order by stock_movement.id`),
    ],

    /** Variants whose stock is not what their movements add up to. */
    wrongStocks: ({ workspaceId }: Caller) => admin`
      select sku from variant
      where workspace_id = ${workspaceId} and stock <> (
        select coalesce(sum(delta), 0) from stock_movement where stock_movement.variant_id = variant.id
      )`,
  }
}
