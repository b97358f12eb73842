import { isId, Reference } from '@backoffice/contracts/fields.ts'
import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { Category } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { z } from 'zod'

const NO_PARENT = 'must be a UUID, or none for the roots'

const CategoryQuery = ListQuery.extend({
  // One text: generated clients cannot send a union in a query (OP-244).
  parent: z
    .string(NO_PARENT)
    .refine((parent) => parent === 'none' || isId(parent), NO_PARENT)
    .toLowerCase()
    .optional(),
  slug: Reference.optional(),
})
type CategoryQuery = z.output<typeof CategoryQuery>

/** GET /v1/categories (extension of OP-19): by position, then name, then id (OP-38). */
export const listCategories = operation({
  operationId: 'listCategories',
  method: 'GET',
  path: '/v1/categories',
  summary: 'List categories',
  scope: 'product::read',
  query: CategoryQuery,
  responses: { 200: Page(Category) },
  openPoints: ['OP-03', 'OP-19', 'OP-38'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const list = {
        columns: tx`id, name, slug, parent_id as parent, position`,
        source: tx`from category where ${matching(tx, query)}`,
        by: ['position', 'name', 'id'],
        isAscending: true,
      }
      return ok(await countedPage<Category>(tx, query, list))
    }),
})

/** The text has only the filters that are sent, so that each combination gets its own plan and index. */
const matching = (tx: Transaction, { parent, slug }: CategoryQuery) => tx`
  workspace_id = ${tx.context.workspaceId} and deleted_slug is null
  ${parent === undefined ? tx`` : parent === 'none' ? tx`and parent_id is null` : tx`and parent_id = ${parent}`}
  ${slug === undefined ? tx`` : tx`and slug = ${slug}`}`
