import { isDeepStrictEqual } from 'node:util'
import { unprocessable } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { CategorySlug } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { Category } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import type { z } from 'zod'
import { requestMemberRefreshes } from '../member-changes/member-changes.ts'
import { CreateCategoryBody, slugTaken } from './create-category.ts'
import { lockCategory, recordCategoryChanges, unknownCategory } from './lock-categories.ts'

/** Only the members that are sent change (OP-38). */
const UpdateCategoryBody = named('CategoryUpdate', CreateCategoryBody.extend({ slug: CategorySlug }).partial(), {
  name: 'Linen shirts',
  position: 1,
})

/** PUT /v1/categories/{id} (extension of OP-19): changes the members that are sent; fires only on a change (OP-73). */
export const updateCategory = operation({
  operationId: 'updateCategory',
  method: 'PUT',
  path: '/v1/categories/{id}',
  summary: 'Update a category',
  scope: 'product::update',
  body: UpdateCategoryBody,
  responses: { 200: Category },
  events: ['category.updated'],
  openPoints: ['OP-19', 'OP-37', 'OP-38', 'OP-73'],
  extension: true,

  handle: ({ params, body, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const changesSlug = body.slug !== undefined
      const before = await lockCategory(tx, params.id, {
        tree: changesSlug || body.parent !== undefined,
        children: changesSlug,
      })
      const after = withChanges(before, body)
      if (isDeepStrictEqual(before, after)) return ok(before)
      const updatedAt = await writeCategory(tx, before, after, now)
      await publish(tx, [outboxRecord(TOPICS.catalogEvents, 'category.updated', after.id, after)], updatedAt)
      return ok(after)
    }),
})

const withChanges = (before: Category, body: z.output<typeof UpdateCategoryBody>): Category => ({
  id: before.id,
  name: body.name ?? before.name,
  slug: body.slug ?? before.slug,
  parent: body.parent === undefined ? before.parent : body.parent,
  position: body.position ?? before.position,
})

/**
 * Writes a changed category, in one statement, and returns its time. Bodies of products have its name, slug, parent and
 * parent's slug, so its products are published again, and those of its children when the slug changes (OP-37). Throws
 * `unprocessable` for a parent that is unknown, itself or below it, and `conflict` for a slug that is taken.
 */
async function writeCategory(tx: Transaction, before: Category, after: Category, now: Date): Promise<Date> {
  const workspace = tx.context.workspaceId
  const { id, name, slug, parent, position } = after
  const isMoved = parent !== before.parent
  const hasNewSlug = slug !== before.slug
  const changesProducts = isMoved || hasNewSlug || name !== before.name
  const [found] = await tx<[{ updatedAt: Date | null; isCycle: boolean; hasParent: boolean }]>`
    with recursive ancestor as (
      select id, parent_id from category
      where workspace_id = ${workspace} and ${isMoved} and id = ${parent} and deleted_slug is null
      union
      select category.id, category.parent_id
      from ancestor join category on category.workspace_id = ${workspace} and category.id = ancestor.parent_id
    ), written as (
      update category set
        name = ${name}, slug = ${slug}, parent_id = ${parent}, position = ${position},
        updated_at = greatest(updated_at + interval '1 ms', ${now})
      where workspace_id = ${workspace} and id = ${id}
        and (not ${isMoved} or ${parent}::uuid is null or exists (select from ancestor))
        and not exists (select from ancestor where id = ${id})
        and not exists (select from category where workspace_id = ${workspace} and slug = ${slug} and id <> ${id})
      returning id, updated_at
    ), changed as (
      select id from written where ${changesProducts}
      union all
      select category.id
      from written join category on category.workspace_id = ${workspace} and category.parent_id = written.id
      where ${hasNewSlug}
    ), recorded as (
      ${recordCategoryChanges(tx, 'changed')}
    ), refresh as (
      ${requestMemberRefreshes(tx, 'changed')}
    )
    select
      (select updated_at from written) as "updatedAt",
      exists (select from ancestor where id = ${id}) as "isCycle",
      exists (select from ancestor) as "hasParent"`
  if (found.updatedAt) return found.updatedAt
  if (found.isCycle) throw unprocessable(['parent'], 'must be neither the category itself nor one below it')
  if (isMoved && parent !== null && !found.hasParent) throw unknownCategory('parent', parent)
  throw slugTaken(slug)
}
