import { notFound, unprocessable } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { explainRules } from '../rules/compile.ts'
import type { RuleProduct } from '../rules/rule-product.ts'
import type { Rules } from '../rules/rules.ts'
import { CollectionPath, type CollectionRecord, collectionColumns, isNamed, noSuchCollection } from './collection.ts'

const ExplainedCondition = namedObject('ExplainedCondition', {
  /** Its place among the conditions, from 0. */
  position: z.int(),
  holds: z.boolean(),
})

const Explanation = namedObject(
  'RulesExplanation',
  {
    /** Whether the product matches the rules as a whole. */
    holds: z.boolean(),
    conditions: z.array(ExplainedCondition),
  },
  { holds: false, conditions: [{ position: 0, holds: false }] },
)

/**
 * GET …/products/{product_id}/explain (extension; OP-112): which conditions of the rules hold, for those who may change
 * them. Answers never show rules (spec: Collection), so it names conditions by their position.
 */
export const explainMembership = operation({
  operationId: 'explainCollectionMembership',
  method: 'GET',
  path: '/v1/collections/{handle}/products/{product_id}/explain',
  summary: 'Explain why a product is in a SMART collection or not',
  scope: 'product::update',
  params: z.strictObject({ ...CollectionPath.shape, product_id: Id }),
  responses: { 200: Explanation },
  refusals: ['unprocessable'],
  openPoints: ['OP-30', 'OP-112', 'OP-110', 'OP-169'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [collection] = await tx<CollectionRecord[]>`
        select ${collectionColumns(tx)} from collection where ${isNamed(tx, params.handle)}`
      if (collection === undefined) throw noSuchCollection(params.handle)
      if (collection.membershipType !== 'SMART') {
        throw unprocessable(['handle'], 'the collection is MANUAL; its products are picked by hand')
      }
      const product = await readProduct(tx, params.product_id)
      const rules = collection.rules as Rules
      const each = await explainRules(rules, product)
      return ok({
        holds: rules.match === 'all' ? !each.includes(false) : each.includes(true),
        conditions: each.map((holds, position) => ({ position, holds })),
      })
    }),
})

async function readProduct(tx: Transaction, id: string): Promise<RuleProduct> {
  const [product] = await tx<(Omit<RuleProduct, 'created_at'> & { created_at: Date })[]>`
    select name, skus, type, status, categories, tags, prices, costs, stock, requires_shipping, can_preorder, created_at
    from product where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  if (product === undefined) throw notFound(['product_id'], `this workspace has no product ${id}`)
  return { ...product, created_at: product.created_at.toISOString() }
}
