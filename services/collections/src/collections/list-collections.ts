import { Collection } from '@backoffice/contracts/collection.ts'
import { Page, PageQuery, pageOf } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okPage } from '@backoffice/http/paged-body.ts'
import { readSized } from '@backoffice/postgres/lists/sized-rows.ts'
import {
  collectionBody,
  collectionBytes,
  isVisible,
  productCount,
  type ShownCollection,
  shownColumns,
} from './collection.ts'

/** GET /v1/collections (spec: Collections, List rules 1–5): the visible collections, newest first. */
export const listCollections = operation({
  operationId: 'listCollections',
  method: 'GET',
  path: '/v1/collections',
  summary: 'List collections',
  scope: 'product::read',
  query: PageQuery,
  responses: { 200: Page(Collection) },
  openPoints: ['OP-03', 'OP-04', 'OP-20'],

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { size, offset } = pageOf(query)
      const visible = tx`from collection where workspace_id = ${tx.context.workspaceId} and ${isVisible(tx)}`
      return okPage(tx, query, {
        total: tx<[{ count: number }]>`select count(*) ${visible}`.then(([{ count }]) => count),
        // Apart from the columns, since the counts of the collections of all earlier pages would be summed, too.
        wanted: {
          ids: tx`select id ${visible} order by id desc limit ${size} offset ${offset}`,
          order: tx`order by id desc`,
        },
        async read(within, wanted) {
          const found = await readSized<ShownCollection & { productCount: number }>(within, {
            ...wanted,
            columns: within`${shownColumns(within)}, ${productCount(within)} as "productCount"`,
            source: within`from collection where workspace_id = ${within.context.workspaceId}`,
            bytes: collectionBytes(within),
          })
          return found.map((one) => collectionBody(one, one.productCount))
        },
      })
    }),
})
