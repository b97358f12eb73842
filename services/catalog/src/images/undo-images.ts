import type { Transaction } from '@backoffice/postgres/database.ts'

/** The assets that an import has added to these products; a null stands for an image that waits or has failed. */
export async function imagesOf(tx: Transaction, importId: string, ids: readonly string[]): Promise<Set<string | null>> {
  const rows = await tx<{ asset_id: string | null }[]>`
    select asset_id from product_image
    where workspace_id = ${tx.context.workspaceId} and import_id = ${importId} and product_id = any(${ids as string[]}::uuid[])`
  return new Set(rows.map(({ asset_id }) => asset_id))
}

/** Ends what waits of an undone import for these products, and forgets the images of those that are as before. */
export const forgetImages = (
  tx: Transaction,
  importId: string,
  { ids, restored }: { readonly ids: readonly string[]; readonly restored: readonly string[] },
) => tx`
  delete from product_image
  where workspace_id = ${tx.context.workspaceId} and import_id = ${importId} and product_id = any(${ids as string[]}::uuid[])
    and (asset_id is null or product_id = any(${restored as string[]}::uuid[]))`
