import { conflict } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { Category } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { v7 as uuidv7 } from 'uuid'
import { CreateCategoryBody, unknownCategory } from './category-input.ts'

/** POST /v1/categories (extension of OP-19). */
export const createCategory = operation({
  method: 'POST',
  path: '/v1/categories',
  summary: 'Create a category',
  scope: 'product::create',
  body: CreateCategoryBody,
  responses: { 201: Category },
  openPoints: ['OP-08', 'OP-19', 'OP-26', 'OP-38'],
  extension: true,

  handle({ body: { name, slug: fixedSlug, parent = null, position = 0 }, now, inWorkspace }) {
    const isSlugFixed = typeof fixedSlug === 'string'
    const slug = isSlugFixed ? fixedSlug : slugify(name, 'category')
    return inWorkspace(async (tx) => {
      await lockSlug(tx, slug)
      const category = await insertCategory(tx, { id: uuidv7(), name, slug, parent, position }, isSlugFixed, now)
      await publish(tx, [outboxRecord(TOPICS.catalogEvents, 'category.created', category.id, category)], now)
      return created(category)
    })
  },
})

/** Categories that would get the same slug are made one after the other, each seeing the one before. */
const lockSlug = (tx: Transaction, slug: string) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`${tx.context.workspaceId} category ${slug}`}, 0))`

/**
 * Inserts a category; a derived slug that is taken gets the family's next number (OP-38). Throws `unprocessable` for a parent
 * the workspace does not have and `conflict` for an explicit slug that is taken.
 */
async function insertCategory(tx: Transaction, category: Category, isSlugFixed: boolean, now: Date): Promise<Category> {
  const { id, name, slug, parent, position } = category
  const workspace = tx.context.workspaceId
  const [written] = await tx<[{ slug: string | null; parent: string | null }]>`
    with same_slug as (
      select from category where workspace_id = ${workspace} and slug = ${slug}
    ), parent as (
      select id from category where workspace_id = ${workspace} and id = ${parent}
    ), new_category as (
      insert into category (workspace_id, id, name, slug, parent_id, position, created_at, updated_at)
      select
        ${workspace}, ${id}, ${name},
        case when exists (select from same_slug)
          then ${slug} || '-' || 1 + coalesce(
            (select max(slug_number) from category where workspace_id = ${workspace} and slug_stem = ${slug}), 1
          )
          else ${slug}
        end,
        (select id from parent), ${position}, ${now}, ${now}
      where (${parent}::uuid is null or exists (select from parent))
        and not (${isSlugFixed} and exists (select from same_slug))
      returning slug
    )
    select (select slug from new_category) as slug, (select id from parent) as parent`
  if (written.slug !== null) return { ...category, slug: written.slug, parent: written.parent }
  if (parent !== null && written.parent === null) throw unknownCategory('parent', parent)
  throw slugTaken(slug)
}

export const slugTaken = (slug: string) => conflict(`slug: "${slug}" belongs to another category of this workspace`)
