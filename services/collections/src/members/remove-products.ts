import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { CollectionPath } from '../collections/collection.ts'
import { deleteMembersWhere } from '../memberships/update-memberships.ts'
import { followsHandPicked, lockHandPickedCollection, ProductIds } from './hand-picked-collection.ts'

/** DELETE /v1/collections/{handle}/products (spec: Remove rule); ignores products that are not members (OP-34). */
export const removeProducts = operation({
  operationId: 'removeProductsFromCollection',
  method: 'DELETE',
  path: '/v1/collections/{handle}/products',
  summary: 'Remove products from a collection',
  scope: 'product::delete',
  params: CollectionPath,
  body: ProductIds,
  responses: { 204: null },
  openPoints: ['OP-01', 'OP-34', 'OP-114'],

  handle: ({ params, body, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { id } = await lockHandPickedCollection(tx, params.handle)
      await deleteMembersWhere(tx, tx`${followsHandPicked(tx, id)} and product_id = any(${body.products}::uuid[])`)
      return new Reply(204)
    }),
})
