import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { CollectionPath } from '../collections/handle.ts'
import { lockPickedCollection, ProductIds, takingPicks } from './picked-collection.ts'

/** DELETE /v1/collections/{handle}/products (spec: Remove rule); one that is no member is no error (OP-34). */
export const removeProducts = operation({
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
      const { id } = await lockPickedCollection(tx, params.handle)
      await tx`
        with leaving as (
          select member.generation, member.product_id from generation join member on member.generation = generation.number
          where ${takingPicks(tx, id)} and member.product_id = any(${body.products}::uuid[])
          order by member.generation, member.product_id
          for update of member -- in one order, as all who change several
        )
        delete from member using leaving
        where member.generation = leaving.generation and member.product_id = leaving.product_id`
      return new Reply(204)
    }),
})
