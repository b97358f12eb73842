import { named } from '@backoffice/contracts/named.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { Product } from '@backoffice/contracts/product.ts'
import { type ProductData, productOf } from '@backoffice/contracts/product-records.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/counted-page.ts'
import { z } from 'zod'
import { compileRules } from '../rules/compile.ts'
import { Rules } from '../rules/rules.ts'

/** POST /v1/collections/preview (extension): the storefront-available products that match rules now, newest first. */
export const previewRules = operation({
  operationId: 'previewCollectionRules',
  method: 'POST',
  path: '/v1/collections/preview',
  summary: 'Preview the products that rules gather',
  scope: 'product::create',
  query: PageQuery,
  body: named('RulesPreviewInput', z.strictObject({ rules: Rules })),
  responses: { 200: Page(Product) },
  openPoints: ['OP-03', 'OP-20', 'OP-30', 'OP-112'],
  extension: true,

  handle({ query, body, inWorkspace }) {
    const rules = compileRules(body.rules)
    return inWorkspace(async (tx) => {
      const page = await countedPage<{ body: ProductData }>(tx, query, {
        columns: tx`product.body`,
        source: tx`
          from product where product.workspace_id = ${tx.context.workspaceId} and product.status = 'ACTIVE'
            and ${rules.toSql(tx)}`,
        order: tx`product.id desc`,
      })
      return ok({ ...page, items: page.items.map(({ body }) => productOf(body)) })
    })
  },
})
