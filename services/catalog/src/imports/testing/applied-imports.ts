import type { Product } from '@backoffice/contracts/product.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { importChecks } from '@backoffice/importing/testing/import-checks.ts'
import { importUndos } from '@backoffice/importing/testing/import-undos.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { createCategory } from '../../categories/create-category.ts'
import { deleteCategory } from '../../categories/delete-category.ts'
import { updateCategory } from '../../categories/update-category.ts'
import { applyMemberChange } from '../../member-changes/apply-member-changes.ts'
import { createProduct } from '../../products/create-product.ts'
import { deleteProduct } from '../../products/delete-product.ts'
import { getProduct } from '../../products/get-product.ts'
import { getProductSettings } from '../../products/get-product-settings.ts'
import { createWith } from '../../products/testing/create-with.ts'
import { updateProduct } from '../../products/update-product.ts'
import { releaseStock } from '../../stock/release-stock.ts'
import { takeStock } from '../../stock/take-stock.ts'
import { deleteTag } from '../../tags/delete-tag.ts'
import { createVariant } from '../../variants/create-variant.ts'
import { updateVariant } from '../../variants/update-variant.ts'
import { batchProducts } from '../batch-products.ts'
import { applyImportBatches, importers } from '../importers.ts'

/** The catalog's side of imports over a database of its own, beside its product operations. */
export async function importsUnderTest() {
  const database = await testDatabase('catalog')
  const { admin, db } = database
  const send = serviceClient(db, [
    createProduct,
    batchProducts,
    getProduct,
    getProductSettings,
    updateProduct,
    deleteProduct,
    createVariant,
    updateVariant,
    createCategory,
    updateCategory,
    deleteCategory,
    deleteTag,
    takeStock,
    releaseStock,
  ])
  const batches = applyImportBatches(() => undefined)

  return {
    ...database,
    send,
    ...appliedBatches(database, batches),
    ...importChecks(database, importers),
    ...importUndos(database, importers),

    create: (caller: Caller, product: unknown) => createWith(send, caller, product),

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

    /** Makes all waiting changes of members, as the worker does: renamed categories then have refresh requests. */
    async applyMemberChanges({ workspaceId, livemode }: Caller): Promise<void> {
      const context = { workspaceId, livemode, traceparent: '' }
      while (await db.inWorkspace(context, applyMemberChange));
    },

    /** Variants whose stock is not what their movements add up to. */
    wrongStocks: ({ workspaceId }: Caller) => admin`
      select sku from variant
      where workspace_id = ${workspaceId} and stock <> (
        select coalesce(sum(delta), 0) from stock_movement
        where stock_movement.workspace_id = variant.workspace_id and stock_movement.variant_id = variant.id
      )`,
  }
}
