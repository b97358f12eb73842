import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { CollectionPath, noSuchCollection } from './collection.ts'
import { ConsoleCollection, readForConsole } from './console-collection.ts'

/** GET /console/collections/{handle} (OP-319): a collection, published or not, with its rules. */
export const getAnyCollection = operation({
  operationId: 'getAnyCollection',
  method: 'GET',
  path: '/console/collections/{handle}',
  summary: 'Read a collection, published or not, with its rules',
  scope: 'product::update',
  params: CollectionPath,
  responses: { 200: ConsoleCollection },
  openPoints: ['OP-319'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const collection = await readForConsole(tx, params.handle)
      if (collection === undefined) throw noSuchCollection(params.handle)
      return ok(collection)
    }),
})
