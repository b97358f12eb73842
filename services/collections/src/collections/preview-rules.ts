import { unprocessable } from '@backoffice/contracts/errors.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { Page, PageQuery, pageOf } from '@backoffice/contracts/pagination.ts'
import { Product } from '@backoffice/contracts/product.ts'
import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okFound } from '@backoffice/http/paged-body.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'
import { type BodyRow, bodyColumns, productsOf, readBodies } from '../products/read-bodies.ts'
import { type CompiledRules, compileRules } from '../rules/compile.ts'
import { Rules } from '../rules/rules.ts'

const BUDGET_MS = 5000
/** Previews read all products of a workspace: two at once on a replica, one of a workspace, few wait (OP-162). */
const LIMITS = { slots: 2, share: 1, waiting: 5, waitMs: 5000 }
const REFUSALS = slotRefusals({
  owner: 'This workspace has too many previews under way; wait until one ends',
  all: 'Too many previews are under way; try again shortly',
})

/** POST /v1/collections/preview (extension): the storefront-available products that rules match, newest first. */
export const previewRules = (budgetMs = BUDGET_MS) => {
  const slots = new FairSlots(LIMITS, REFUSALS)
  return operation({
    operationId: 'previewCollectionRules',
    method: 'POST',
    path: '/v1/collections/preview',
    summary: 'Preview the products that rules gather',
    scope: 'product::create',
    query: PageQuery,
    body: namedObject(
      'RulesPreviewInput',
      { rules: Rules },
      { rules: { match: 'any', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] } },
    ),
    responses: { 200: Page(Product) },
    onlyReads: true,
    openPoints: ['OP-03', 'OP-20', 'OP-30', 'OP-112', 'OP-110', 'OP-162'],
    extension: true,

    async handle({ query, body, context, inWorkspace }) {
      const { size, offset } = pageOf(query)
      const preview = async () => {
        const rules = await compileRules(body.rules)
        return inWorkspace(
          async (tx) => {
            const rows = await matchingProducts(tx, rules, { size, offset })
            return okFound(query, rows[0].total, productsOf(rows), readBodies)
          },
          { statementMs: budgetMs },
        )
      }
      try {
        return await slots.run(context.workspaceId, preview)
      } catch (error) {
        if (!isStatementTimeout(error)) throw error
        throw unprocessable(
          ['rules'],
          `take longer than ${budgetMs / 1000} s over the products of this workspace; use fewer conditions or shorter lists`,
          'too_costly',
        )
      }
    },
  })
}

interface MatchRow extends BodyRow {
  readonly total: number
}

/** Counts and reads a page in one pass, without parallel workers, which would take processors from other requests. */
async function matchingProducts(
  tx: Transaction,
  rules: CompiledRules,
  { size, offset }: { readonly size: number; readonly offset: number },
): Promise<readonly [MatchRow, ...MatchRow[]]> {
  const workspace = tx.context.workspaceId
  const [, rows] = await Promise.all([
    tx`select set_config('max_parallel_workers_per_gather', '0', true)`,
    tx<[MatchRow, ...MatchRow[]]>`
      with matching as materialized (
        select product.id from product
        where product.workspace_id = ${workspace} and product.status = 'ACTIVE' and ${rules.toSql(tx)}
      )
      select total, ${bodyColumns(tx)}
      from (select count(*) as total from matching) as counted
      left join (select id from matching order by id desc limit ${size} offset ${offset}) as shown on true
      left join product on product.workspace_id = ${workspace} and product.id = shown.id
      order by shown.id desc`,
  ])
  return rows
}
