import { conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { Category } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { laterThan, outboxRecord, publish, publishRows } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { deleteOrHide, lockMembers, moveProducts, requestMemberRefreshes } from '../member-changes/member-changes.ts'
import { lockCategory, recordCategoryChanges, unknownCategory } from './lock-categories.ts'

/**
 * DELETE /v1/categories/{id} (extension of OP-19): refused while it has products, unless `reassign_to` names the
 * category they move to, the first thousand before the answer. Its children move up to its parent (OP-38).
 */
export const deleteCategory = operation({
  operationId: 'deleteCategory',
  method: 'DELETE',
  path: '/v1/categories/{id}',
  summary: 'Delete a category',
  scope: 'product::delete',
  query: z.strictObject({ reassign_to: Id.optional() }),
  responses: { 204: null },
  refusals: ['conflict', 'unprocessable'],
  events: ['category.updated', 'category.deleted'],
  openPoints: ['OP-01', 'OP-19', 'OP-37', 'OP-38', 'OP-67', 'OP-167'],
  extension: true,

  handle: ({ params, query, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const target = query.reassign_to ?? null
      const products = target === null ? [] : await lockMembers(tx, 'product_category', params.id)
      const category = await lockCategory(tx, params.id, { tree: true, children: true })
      if (target === category.id) throw unprocessable(['reassign_to'], 'must be another category than the deleted one')
      const updatedAt = await releaseChildren(tx, category, target, now)
      if (target !== null) await moveProducts(tx, products, category.id, target)
      await deleteOrHide(tx, 'product_category', category.id, target)
      const deleted = outboxRecord(TOPICS.catalogEvents, 'category.deleted', category.id, category)
      await publish(tx, [deleted], laterThan(updatedAt, now))
      return new Reply(204)
    }),
})

/**
 * Moves the children of a locked category up, publishes them, and returns the category's time. It may have a hundred
 * thousand, so they stay in PostgreSQL. Throws `conflict` for products without a target, and while products of another
 * deleted category still move to this one; `unprocessable` for an unknown target.
 */
async function releaseChildren(
  tx: Transaction,
  { id, parent }: Category,
  target: string | null,
  now: Date,
): Promise<Date> {
  const workspace = tx.context.workspaceId
  const records = tx`
    select id as key, (select row_to_json(shown) from (select id, name, slug, parent, position) as shown) as payload,
      updated_at as occurred_at
    from child order by position, name, id`
  const [found] = await tx<[{ updatedAt: Date; hasTarget: boolean; hasProducts: boolean; isTarget: boolean }]>`
    with found as materialized (
      select
        (select updated_at from category where workspace_id = ${workspace} and id = ${id}) as "updatedAt",
        exists (
          select from category where workspace_id = ${workspace} and id = ${target} and deleted_slug is null
        ) as "hasTarget",
        exists (select from product_category where workspace_id = ${workspace} and category_id = ${id}) as "hasProducts",
        exists (select from member_change where workspace_id = ${workspace} and reassign_to = ${id}) as "isTarget"
    ), child as (
      update category set parent_id = ${parent}, updated_at = greatest(updated_at + interval '1 ms', ${now})
      where workspace_id = ${workspace} and parent_id = ${id}
      returning id, name, slug, parent_id as parent, position, updated_at
    ), recorded as (
      ${recordCategoryChanges(tx, 'child')}
    ), refresh as (
      ${requestMemberRefreshes(tx, 'child')}
    ), published as (
      ${publishRows(tx, TOPICS.catalogEvents, 'category.updated', records)}
    )
    select * from found`
  if (target !== null && !found.hasTarget) throw unknownCategory('reassign_to', target)
  if (target === null && found.hasProducts) {
    throw conflict(['reassign_to'], 'the category has products; name the category they are to move to', 'in_use')
  }
  if (found.isTarget) {
    throw conflict(['id'], 'products of a deleted category are still moving to it; delete it when they have moved')
  }
  return found.updatedAt
}
