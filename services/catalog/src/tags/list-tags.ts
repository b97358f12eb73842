import { LIMITS } from '@backoffice/contracts/limits.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { Tag } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

const TagQuery = PageQuery.extend({ query: z.string().min(1).max(LIMITS.nameLength).optional() })
type TagQuery = z.output<typeof TagQuery>

/** GET /v1/tags (extension of OP-19): by name, whatever its case; `query` is how the name begins (OP-39). */
export const listTags = operation({
  method: 'GET',
  path: '/v1/tags',
  summary: 'List tags',
  scope: 'product::read',
  query: TagQuery,
  responses: { 200: Page(Tag) },
  openPoints: ['OP-03', 'OP-19', 'OP-39'],
  extension: true,

  async handle({ query, inWorkspace }) {
    const { page, size, offset } = pageOf(query)
    return inWorkspace(async (tx) => {
      const [total, tags] = await Promise.all([countTags(tx, query), selectTags(tx, query, size, offset)])
      return ok(pageView(page, size, total, tags))
    })
  },
})

async function countTags(tx: Transaction, query: TagQuery): Promise<number> {
  const [row] = await tx<{ count: number }[]>`select count(*) from tag where ${matching(tx, query)}`
  return row?.count ?? 0
}

const selectTags = (tx: Transaction, query: TagQuery, size: number, offset: number) => tx<Tag[]>`
  select id, name, slug from tag where ${matching(tx, query)}
  order by folded_name, id limit ${size} offset ${offset}`

/** The highest character there is: what begins with a prefix lies between the prefix and the prefix followed by this. */
const HIGHEST = '\u{10ffff}'

const matching = (tx: Transaction, { query }: TagQuery) => tx`
  workspace_id = ${tx.context.workspaceId}
  ${query === undefined ? tx`` : tx`and folded_name >= lower(${query}) and folded_name < lower(${query}) || ${HIGHEST}`}`
