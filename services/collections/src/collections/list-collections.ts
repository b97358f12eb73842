import { Collection } from '@backoffice/contracts/collection.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/counted-page.ts'
import { type CollectionRecord, collectionBody, collectionColumns, isVisible, productCount } from './collection.ts'

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
      const page = await countedPage<CollectionRecord & { productCount: number }>(tx, query, {
        columns: tx`${collectionColumns(tx)}, ${productCount(tx)} as "productCount"`,
        source: tx`from collection where workspace_id = ${tx.context.workspaceId} and ${isVisible(tx)}`,
        order: tx`id desc`,
      })
      return ok({ ...page, items: page.items.map((one) => collectionBody(one, one.productCount)) })
    }),
})
