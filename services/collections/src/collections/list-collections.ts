import { Collection } from '@backoffice/contracts/collection.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { type CollectionRecord, collectionBody, collectionColumns, isVisible, productCount } from './collection.ts'

/** GET /v1/collections (spec: Collections, List rules 1–5): what is published and in its window, newest first. */
export const listCollections = operation({
  method: 'GET',
  path: '/v1/collections',
  summary: 'List collections',
  scope: 'product::read',
  query: PageQuery,
  responses: { 200: Page(Collection) },
  openPoints: ['OP-03', 'OP-04', 'OP-20'],

  handle({ query, inWorkspace }) {
    const { page, size, offset } = pageOf(query)
    return inWorkspace(async (tx) => {
      const workspace = tx.context.workspaceId
      const [[found], collections] = await Promise.all([
        tx<[{ total: number }]>`
          select count(*) as total from collection where workspace_id = ${workspace} and ${isVisible(tx)}`,
        tx<(CollectionRecord & { productCount: number })[]>`
          select ${collectionColumns(tx)}, ${productCount(tx)} as "productCount"
          from collection where workspace_id = ${workspace} and ${isVisible(tx)}
          order by id desc limit ${size} offset ${offset}`,
      ])
      const items = collections.map((collection) => collectionBody(collection, collection.productCount))
      return ok(pageView(page, size, found.total, items))
    })
  },
})
