import { LIMITS } from '@backoffice/contracts/limits.ts'
import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { Tag } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { z } from 'zod'

const TagQuery = ListQuery.extend({ query: z.string().min(1).max(LIMITS.nameLength).optional() })
type TagQuery = z.output<typeof TagQuery>

/** GET /v1/tags (extension of OP-19): by name without regard to case; `query` is a prefix of the name (OP-39). */
export const listTags = operation({
  operationId: 'listTags',
  method: 'GET',
  path: '/v1/tags',
  summary: 'List tags',
  scope: 'product::read',
  query: TagQuery,
  responses: { 200: Page(Tag) },
  openPoints: ['OP-03', 'OP-19', 'OP-39'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const list = {
        columns: tx`id, name, slug`,
        source: tx`from tag where ${matching(tx, query)}`,
        by: ['folded_name', 'id'],
        isAscending: true,
      }
      return ok(await countedPage<Tag>(tx, query, list))
    }),
})

/** The highest character. Names with a prefix lie between the prefix and the prefix followed by this one. */
const HIGHEST = '\u{10ffff}'

const matching = (tx: Transaction, { query }: TagQuery) => tx`
  workspace_id = ${tx.context.workspaceId} and deleted_slug is null
  ${query === undefined ? tx`` : tx`and (${beginsWith(tx, query)})`}`

/** However the accents of the prefix, and those of the name, are encoded (OP-25). */
const beginsWith = (tx: Transaction, query: string) =>
  [...new Set([query.normalize('NFC'), query.normalize('NFD'), query])]
    .map((prefix) => tx`folded_name >= lower(${prefix}) and folded_name < lower(${prefix}) || ${HIGHEST}`)
    .reduce((all, one) => tx`${all} or ${one}`)
