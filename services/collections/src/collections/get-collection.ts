import { Collection } from '@backoffice/contracts/collection.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import {
  CollectionPath,
  collectionBody,
  isNamed,
  isVisible,
  noPublishedCollection,
  productCount,
  type ShownCollection,
  shownColumns,
} from './collection.ts'

/** GET /v1/collections/{handle} (spec: Collections, Get rules): a single published collection, by handle or id. */
export const getCollection = operation({
  operationId: 'getCollection',
  method: 'GET',
  path: '/v1/collections/{handle}',
  summary: 'Read a collection',
  scope: 'product::read',
  params: CollectionPath,
  responses: { 200: Collection },
  openPoints: ['OP-20', 'OP-32', 'OP-116'],

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [collection] = await tx<(ShownCollection & { productCount: number })[]>`
        select ${shownColumns(tx)}, ${productCount(tx)} as "productCount"
        from collection where ${isNamed(tx, params.handle)} and ${isVisible(tx)}`
      if (collection === undefined) throw noPublishedCollection(params.handle)
      return ok(collectionBody(collection, collection.productCount))
    }),
})
