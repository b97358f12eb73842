import type { ApiError } from '@backoffice/contracts/errors.ts'
import { ListQuery, Page, pageOf } from '@backoffice/contracts/pagination.ts'
import { Product } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okFound } from '@backoffice/http/paged-body.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { unknownItem } from '@backoffice/postgres/lists/list-page.ts'
import {
  CollectionPath,
  isNamed,
  isVisible,
  noPublishedCollection,
  noSuchCollection,
} from '../collections/collection.ts'
import { type BodyRow, bodyColumns, productsOf, readBodies } from '../products/read-bodies.ts'

/**
 * GET /v1/collections/{handle}/products (OP-33): the storefront-available products of a published collection, in its
 * order. With `after`, the last product of the previous page, each page costs the same at any depth (OP-114).
 */
export const listMembers = operation({
  operationId: 'listCollectionProducts',
  method: 'GET',
  path: '/v1/collections/{handle}/products',
  summary: 'List the products of a collection',
  scope: 'product::read',
  params: CollectionPath,
  query: ListQuery,
  responses: { 200: Page(Product) },
  openPoints: ['OP-03', 'OP-20', 'OP-33', 'OP-35', 'OP-114', 'OP-116', 'OP-117', 'OP-169'],
  extension: true,

  handle: ({ params: { handle }, query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const rows = await selectPage(tx, tx`${isNamed(tx, handle)} and ${isVisible(tx)}`, pageOf(query))
      return answerOf(query, rows, () => noPublishedCollection(handle))
    }),
})

/** GET /console/collections/{handle}/products (OP-319): those of a draft, too. */
export const listMembersOfAny = operation({
  operationId: 'listProductsOfAnyCollection',
  method: 'GET',
  path: '/console/collections/{handle}/products',
  summary: 'List the products of a collection, published or not',
  scope: 'product::update',
  params: CollectionPath,
  query: ListQuery,
  responses: { 200: Page(Product) },
  openPoints: ['OP-319'],
  extension: true,

  handle: ({ params: { handle }, query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const rows = await selectPage(tx, isNamed(tx, handle), pageOf(query))
      return answerOf(query, rows, () => noSuchCollection(handle))
    }),
})

/** The page of these rows. Throws what `missing` makes where there is no collection. */
function answerOf(query: ListQuery, rows: readonly PageRow[], missing: () => ApiError) {
  const [first] = rows
  if (first === undefined) throw missing()
  if (query.after !== undefined && !first.isAfterThere) throw unknownItem(query.after, 'the collection has no product')
  return okFound(query, first.total, productsOf(rows), readBodies)
}

interface PageRow extends BodyRow {
  total: number
  isAfterThere: boolean
}

/** Reads the total, the order and the products in one statement and snapshot; no row without the collection. */
const selectPage = (tx: Transaction, isWanted: SqlPart, { after, offset, taken }: ReturnType<typeof pageOf>) => tx<
  PageRow[]
>`
  with shown as materialized (
    select collection.workspace_id, collection.id, number, sort_key as after_key, (
      select coalesce(sum(available), 0)::bigint from collection_member_count where version_number = number
    ) as total
    from collection
    left join membership_version as version on version.workspace_id = collection.workspace_id
      and version.collection_id = collection.id and version.state = 'CURRENT'
    left join collection_member as member on member.version_number = number and member.product_id = ${after ?? null}
    where ${isWanted}
  )
  select shown.total, shown.after_key is not null as "isAfterThere", ${bodyColumns(tx)}
  from shown
  left join lateral (
    select workspace_id, product_id, sort_key from collection_member
    where version_number = shown.number and is_available
      ${after === undefined ? tx`` : tx`and (sort_key, product_id) > (shown.after_key, ${after})`}
    order by sort_key, product_id limit ${taken} offset ${offset}
  ) as page on true
  left join product on product.workspace_id = page.workspace_id and product.id = page.product_id
  order by page.sort_key, page.product_id`
