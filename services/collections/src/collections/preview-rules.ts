import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { Product } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { compileRules } from '../rules/compile.ts'
import { Rules } from '../rules/rules.ts'

/** POST /v1/collections/preview (extension): the storefront-available products that rules would gather now, newest first. */
export const previewRules = operation({
  method: 'POST',
  path: '/v1/collections/preview',
  summary: 'Preview the products that rules gather',
  scope: 'product::create',
  query: PageQuery,
  body: z.strictObject({ rules: Rules }),
  responses: { 200: Page(Product) },
  openPoints: ['OP-03', 'OP-20', 'OP-30', 'OP-112'],
  extension: true,

  handle({ query, body, inWorkspace }) {
    const { page, size, offset } = pageOf(query)
    const rules = compileRules(body.rules)
    return inWorkspace(async (tx) => {
      const gathered = tx`
        from product where product.workspace_id = ${tx.context.workspaceId} and product.status = 'ACTIVE'
          and ${rules.condition(tx)}`
      const [[found], products] = await Promise.all([
        tx<[{ total: number }]>`select count(*) as total ${gathered}`,
        tx<{ body: unknown }[]>`
          select product.body ${gathered} order by product.id desc limit ${size} offset ${offset}`,
      ])
      return ok(
        pageView(
          page,
          size,
          found.total,
          products.map((product) => product.body),
        ),
      )
    })
  },
})
