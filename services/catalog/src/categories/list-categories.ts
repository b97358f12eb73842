import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { Category } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

const CategoryQuery = PageQuery.extend({
  parent: z.union([z.literal('none'), Id], 'must be a UUID, or none for the roots').optional(),
  slug: z.string().min(1).max(LIMITS.nameLength).optional(),
})
type CategoryQuery = z.output<typeof CategoryQuery>

/** GET /v1/categories (extension of OP-19): by position, then name, then id (OP-38). */
export const listCategories = operation({
  method: 'GET',
  path: '/v1/categories',
  summary: 'List categories',
  scope: 'product::read',
  query: CategoryQuery,
  responses: { 200: Page(Category) },
  openPoints: ['OP-03', 'OP-19', 'OP-38'],
  extension: true,

  async handle({ query, inWorkspace }) {
    const { page, size, offset } = pageOf(query)
    return inWorkspace(async (tx) => {
      const [total, categories] = await Promise.all([
        countCategories(tx, query),
        selectCategories(tx, query, size, offset),
      ])
      return ok(pageView(page, size, total, categories))
    })
  },
})

async function countCategories(tx: Transaction, query: CategoryQuery): Promise<number> {
  const [row] = await tx<{ count: number }[]>`select count(*) from category where ${matching(tx, query)}`
  return row?.count ?? 0
}

const selectCategories = (tx: Transaction, query: CategoryQuery, size: number, offset: number) => tx<Category[]>`
  select id, name, slug, parent_id as parent, position from category where ${matching(tx, query)}
  order by position, name, id limit ${size} offset ${offset}`

/** Filters that are not sent are left out of the text: each combination has a plan, and an index, of its own. */
const matching = (tx: Transaction, { parent, slug }: CategoryQuery) => tx`
  workspace_id = ${tx.context.workspaceId}
  ${parent === undefined ? tx`` : parent === 'none' ? tx`and parent_id is null` : tx`and parent_id = ${parent}`}
  ${slug === undefined ? tx`` : tx`and slug = ${slug}`}`
