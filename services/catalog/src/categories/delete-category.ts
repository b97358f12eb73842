import { conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { Category } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { refreshRequests } from '../refresh/refresh-requests.ts'
import { unknownCategory } from './category-input.ts'
import { lockCategory, recordCategoryChanges } from './lock-category.ts'

/**
 * DELETE /v1/categories/{id} (extension of OP-19): refused while it has products, unless `reassign_to` names the
 * category they move to. Its children move up to its parent (OP-38).
 */
export const deleteCategory = operation({
  operationId: 'deleteCategory',
  method: 'DELETE',
  path: '/v1/categories/{id}',
  summary: 'Delete a category',
  scope: 'product::delete',
  params: z.strictObject({ id: Id }),
  query: z.strictObject({ reassign_to: Id.optional() }),
  responses: { 204: null },
  refusals: ['conflict', 'unprocessable'],
  openPoints: ['OP-01', 'OP-19', 'OP-37', 'OP-38', 'OP-67'],
  extension: true,

  handle: ({ params, query, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const category = await lockCategory(tx, params.id, { tree: true, children: true })
      const target = query.reassign_to ?? null
      if (target === category.id) throw unprocessable(['reassign_to'], 'must be another category than the deleted one')
      const children = await removeCategory(tx, category, target, now)
      const records = children.map((child) => outboxRecord(TOPICS.catalogEvents, 'category.updated', child.id, child))
      records.push(outboxRecord(TOPICS.catalogEvents, 'category.deleted', category.id, category))
      await publish(tx, records, now)
      return new Reply(204)
    }),
})

/**
 * Deletes a locked category in one statement, whatever the number of its products, and returns its children, which move
 * up. In each product the target takes the category's position; a product with both keeps the target, at the lower of
 * the two positions. Locks the products first, so that no other request changes their categories at the same time.
 * Throws `conflict` when there are products and no target, `unprocessable` for an unknown target.
 */
async function removeCategory(
  tx: Transaction,
  { id, parent }: Category,
  target: string | null,
  now: Date,
): Promise<Category[]> {
  const workspace = tx.context.workspaceId
  const [done] = await tx<[{ isDeleted: boolean; children: Category[] }]>`
    with allowed as (
      select where exists (
        select from category where workspace_id = ${workspace} and id = ${target}
      ) or (${target}::uuid is null and not exists (
        select from product_category where workspace_id = ${workspace} and category_id = ${id}
      ))
    ), member as materialized (
      select product.id from allowed, product
      where product.workspace_id = ${workspace} and product.id in (
        select product_id from product_category where workspace_id = ${workspace} and category_id = ${id}
      )
      order by product.id for no key update of product
    ), membership as (
      select former.product_id, former.position, kept.position as target_position
      from member
      join product_category former
        on former.workspace_id = ${workspace} and former.category_id = ${id} and former.product_id = member.id
      left join product_category kept
        on kept.workspace_id = ${workspace} and kept.category_id = ${target} and kept.product_id = member.id
    ), raised as (
      update product_category set position = membership.position
      from membership
      where product_category.workspace_id = ${workspace} and product_category.category_id = ${target}
        and product_category.product_id = membership.product_id and membership.position < membership.target_position
    ), dropped as (
      delete from product_category using membership
      where product_category.workspace_id = ${workspace} and product_category.category_id = ${id}
        and product_category.product_id = membership.product_id and membership.target_position is not null
      returning product_category.product_id
    ), moved as (
      update product_category set category_id = ${target}
      from membership
      where product_category.workspace_id = ${workspace} and product_category.category_id = ${id}
        and product_category.product_id = membership.product_id and membership.target_position is null
      returning product_category.product_id
    ), child as (
      update category set parent_id = ${parent}, updated_at = greatest(updated_at, ${now})
      from allowed
      where workspace_id = ${workspace} and parent_id = ${id}
      returning id, name, slug, parent_id as parent, position
    ), recorded as (
      ${recordCategoryChanges(tx, 'child')}
    ), requested as (
      select product_id, true as is_change from dropped
      union all
      select product_id, true from moved
      union all
      select product_id, false from child join product_category on workspace_id = ${workspace} and category_id = child.id
    ), refresh as (
      ${refreshRequests(tx)}
    ), deleted as (
      delete from category using allowed where workspace_id = ${workspace} and id = ${id} returning id
    )
    select
      exists (select from deleted) as "isDeleted",
      array(select to_json(child) from child order by position, name, id) as children`
  if (done.isDeleted) return done.children
  if (target !== null) throw unknownCategory('reassign_to', target)
  throw conflict(['reassign_to'], 'the category has products; name the category they are to move to')
}
