import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { CollectionPath } from '../collections/handle.ts'
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
      await tx`
        with removed as (
          select version_number, product_id from membership_version join collection_member on version_number = number
          where ${followsHandPicked(tx, id)} and product_id = any(${body.products}::uuid[])
          order by version_number, product_id -- the order in which every transaction locks members
          for update of collection_member
        )
        delete from collection_member as member using removed
        where member.version_number = removed.version_number and member.product_id = removed.product_id`
      return new Reply(204)
    }),
})
