import { MAX_POSITION } from '@backoffice/contracts/fields.ts'
import { keepChanges } from '@backoffice/importing/import-batches.ts'
import type { ImportedChange } from '@backoffice/importing/importer.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** The images of the product that has a SKU. */
interface SkuImages {
  readonly sku: string
  readonly images?: readonly string[] | undefined
}

/**
 * Requests that images are fetched and added to products, after those that the products have and wait for, in their
 * order (OP-281). A URL that was requested for the product before is left alone, unless it failed or the product does
 * not show its image any more. The undo of the import will visit the products. Three statements, none without images.
 */
export async function requestImages(tx: Transaction, importId: string, products: readonly SkuImages[]): Promise<void> {
  const wanted = products.flatMap(({ sku, images = [] }) => images.map((url) => ({ sku, url: new URL(url).href })))
  if (wanted.length === 0) return
  const { workspaceId, livemode, traceparent } = tx.context
  const numbered = wanted.map((image, nth) => ({ ...image, nth }))
  const requested = await tx<{ product_id: string }[]>`
    with sent as materialized (
      select * from json_to_recordset(${JSON.stringify(numbered)}::text::json) as row (sku text, url text, nth integer)
    ), wanted as materialized (
      select product_id, url, row_number() over (partition by product_id order by min(nth)) as place
      from sent join variant on variant.sku = sent.sku
      where variant.workspace_id = ${workspaceId} and variant.sku = any(array(select sku from sent))
      group by product_id, url
    )
    insert into product_image as known (workspace_id, product_id, url, position, import_id, livemode, traceparent)
    select
      ${workspaceId}, product_id, url, least(${MAX_POSITION}, place + greatest(
        coalesce((
          select max(position) from media where workspace_id = ${workspaceId} and media.product_id = wanted.product_id
        ), -1),
        coalesce((
          select max(position) from product_image as waiting
          where workspace_id = ${workspaceId} and waiting.product_id = wanted.product_id and next_attempt_at is not null
        ), -1)
      )), ${importId}, ${livemode}, ${traceparent}
    from wanted
    order by product_id, place
    on conflict (workspace_id, product_id, md5(url)) do update set
      position = excluded.position, import_id = excluded.import_id, requested_at = now(), attempts = 0,
      next_attempt_at = now(), asset_id = null, failure = null
    where known.next_attempt_at is null and not exists (
      select from media
      where media.workspace_id = ${workspaceId} and media.product_id = known.product_id and media.asset_id = known.asset_id
    )
    returning product_id`
  const ids = [...new Set(requested.map(({ product_id }) => product_id))]
  if (ids.length > 0) await keepChanges(tx, importId, await unchanged(tx, ids))
}

/** What is kept of products whose members an import has not changed, so that its undo takes their images. */
const unchanged = (tx: Transaction, ids: readonly string[]) => tx<ImportedChange[]>`
  select
    id, '{}'::json as former, (version - refreshes)::text as version_before, (version - refreshes)::text as version_after,
    case when type = 'VARIABLE_PRODUCT' then slug else (
      select sku from variant where workspace_id = ${tx.context.workspaceId} and product_id = product.id limit 1
    ) end as key
  from product where workspace_id = ${tx.context.workspaceId} and id = any(${ids as string[]}::uuid[])`
