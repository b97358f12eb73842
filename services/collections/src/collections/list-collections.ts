import { Collection } from '@backoffice/contracts/collection.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
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
      const { page, size, offset } = pageOf(query)
      const visible = tx`from collection where workspace_id = ${tx.context.workspaceId} and ${isVisible(tx)}`
      const [[counted], found] = await Promise.all([
        tx<[{ count: number }]>`select count(*) ${visible}`,
        // In one statement with the offset the counts of all earlier pages would be summed, too.
        tx<(CollectionRecord & { productCount: number })[]>`
          select ${collectionColumns(tx)}, ${productCount(tx)} as "productCount"
          from collection where workspace_id = ${tx.context.workspaceId}
            and id = any(array(select id ${visible} order by id desc limit ${size} offset ${offset}))
          order by id desc`,
      ])
      const items = found.map((one) => collectionBody(one, one.productCount))
      return ok(pageView(page, size, counted.count, items))
    }),
})
