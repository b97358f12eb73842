import type { Transaction } from '@backoffice/postgres/database.ts'
import { previewReferences } from '../products/references.ts'
import type { FormerValues, UndoTargets } from './with-former-values.ts'

/** Finds the categories, tags and slugs that products are to get back. No statement when there are none. */
export async function findTargets(tx: Transaction, former: readonly FormerValues[]): Promise<UndoTargets> {
  const slugs = former.flatMap(({ slug }) => slug ?? [])
  const wanted = {
    categoryIds: former.flatMap(({ categories = [] }) => categories.map(({ id }) => id)),
    tags: former.flatMap(({ tags = [] }) => tags),
  }
  const [{ found }, taken] = await Promise.all([
    previewReferences(tx, wanted),
    slugs.length === 0
      ? []
      : tx<{ slug: string; id: string }[]>`
          select slug, id from product where workspace_id = ${tx.context.workspaceId} and slug = any(${slugs})`,
  ])
  return {
    categories: new Map(found.categories.map((category) => [category.id, category])),
    // A tag that was deleted, and created again, has another id.
    tags: new Map(found.tags.map((tag) => [tag.id, tag])),
    slugs: new Map(taken.map(({ slug, id }) => [slug, id])),
  }
}
