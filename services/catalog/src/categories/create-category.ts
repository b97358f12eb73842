import { conflict } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { CategorySlug, Id, Name, Position } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { Category } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { chooseSlug, lockFamilies } from '@backoffice/postgres/slug-families.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import { CATEGORY_SLUGS, categorySlugOf } from '../products/category-slug.ts'
import { unknownCategory } from './lock-categories.ts'

/** The members of a new category; a root has the parent null (OP-38). */
export const CreateCategoryBody = named(
  'CategoryInput',
  z.strictObject({
    name: Name,
    slug: CategorySlug.nullish(),
    parent: Id.nullish(),
    position: Position.optional(),
  }),
  { name: 'Shirts' },
)

/** POST /v1/categories (extension of OP-19). */
export const createCategory = operation({
  operationId: 'createCategory',
  method: 'POST',
  path: '/v1/categories',
  summary: 'Create a category',
  scope: 'product::create',
  body: CreateCategoryBody,
  responses: { 201: Category },
  events: ['category.created'],
  openPoints: ['OP-08', 'OP-19', 'OP-26', 'OP-38', 'OP-168'],
  extension: true,

  handle({ body: { name, slug: fixedSlug, parent = null, position = 0 }, now, inWorkspace }) {
    const derivedSlug = categorySlugOf(name)
    return inWorkspace(async (tx) => {
      const slug = fixedSlug ?? chooseSlug(await lockFamilies(tx, CATEGORY_SLUGS, [derivedSlug]), derivedSlug)
      const planned = { id: newId(), name, slug, parent, position }
      const category = await insertCategory(tx, planned, typeof fixedSlug === 'string', now)
      await publish(tx, [outboxRecord(TOPICS.catalogEvents, 'category.created', category.id, category)], now)
      return created(category)
    })
  },
})

/**
 * Throws `unprocessable` for an unknown parent and `conflict` for an explicit slug that is taken. One taken at this
 * very moment fails on its unique constraint, and the transaction runs again.
 */
async function insertCategory(tx: Transaction, category: Category, isSlugFixed: boolean, now: Date): Promise<Category> {
  const { id, name, slug, parent, position } = category
  const workspace = tx.context.workspaceId
  const [written] = await tx<[{ isWritten: boolean; parent: string | null }]>`
    with parent as (
      -- Waits for a deletion of the parent, and goes by what that leaves.
      select id from category where workspace_id = ${workspace} and id = ${parent} and deleted_slug is null for key share
    ), new_category as (
      insert into category (workspace_id, id, name, slug, parent_id, position, created_at, updated_at)
      select ${workspace}, ${id}, ${name}, ${slug}, (select id from parent), ${position}, ${now}, ${now}
      where (${parent}::uuid is null or exists (select from parent))
        and not (${isSlugFixed} and exists (select from category where workspace_id = ${workspace} and slug = ${slug}))
      returning id
    )
    select exists (select from new_category) as "isWritten", (select id from parent) as parent`
  if (written.isWritten) return { ...category, parent: written.parent }
  if (parent !== null && written.parent === null) throw unknownCategory('parent', parent)
  throw slugTaken(slug)
}

export const slugTaken = (slug: string) =>
  conflict(['slug'], `"${slug}" belongs to another category of this workspace`, 'slug_taken')
