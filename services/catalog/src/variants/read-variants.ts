import { Id, Sku } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

/** The longest title, in characters; name and options are cut. 1,000 titles have to fit into an order's record. */
const TITLE_LENGTH = 400

const Wanted = z
  .strictObject({ ids: z.array(Id).default([]), skus: z.array(Sku).default([]) })
  .refine(
    ({ ids, skus }) => ids.length + skus.length <= LIMITS.idsPerCall,
    `must have at most ${LIMITS.idsPerCall} ids and skus together`,
  )

/**
 * POST /internal/variants/read: the wanted variants that the workspace has, as they are at this moment. An order is
 * priced from it (OP-41). One statement.
 */
export const readVariants = operation({
  method: 'POST',
  path: '/internal/variants/read',
  scope: 'internal',
  body: Wanted,
  responses: { 200: z.strictObject({ variants: z.array(OrderableVariant) }) },

  handle: ({ body, inWorkspace }) => inWorkspace(async (tx) => ok({ variants: [...(await selectVariants(tx, body))] })),
})

/**
 * The columns of an OrderableVariant, of `variant` and its `product`. A variant may have thousands of attributes: they
 * are unpacked once, and `offset 0` keeps the planner from comparing each with all options.
 */
export const orderableColumns = (tx: Transaction) => tx`
  variant.id, sku, status, price, left(concat_ws(' - ', product.name, (
    select string_agg(chosen.value, ' / ' order by position)
    from jsonb_each_text(attributes) as chosen cross join lateral (
      select position from product_option
      where product_option.workspace_id = ${tx.context.workspaceId} and product_option.product_id = product.id
        and option_id = chosen.key::uuid
      offset 0
    ) as option
  )), ${TITLE_LENGTH}) as title`

// Lists in subqueries, so that the plan is kept (decision 010).
const selectVariants = (tx: Transaction, { ids, skus }: z.output<typeof Wanted>) => tx<OrderableVariant[]>`
  with wanted as materialized (
    select * from variant where workspace_id = ${tx.context.workspaceId} and id = any(array(select unnest(${ids}::uuid[])))
    union
    select * from variant where workspace_id = ${tx.context.workspaceId} and sku = any(array(select unnest(${skus}::text[])))
  )
  select ${orderableColumns(tx)}
  from wanted as variant
  join product on product.workspace_id = ${tx.context.workspaceId} and product.id = variant.product_id`
