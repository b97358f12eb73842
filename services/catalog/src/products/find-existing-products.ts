import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'

const ProductIds = z.strictObject({ products: z.array(Id).min(1).max(LIMITS.idsPerCall) })

/**
 * POST /internal/products/existing: those of the products that the workspace has at this moment. Collections picks
 * products whose state it has not received yet (OP-33).
 */
export const findExistingProducts = operation({
  method: 'POST',
  path: '/internal/products/existing',
  scope: 'internal',
  body: ProductIds,
  responses: { 200: z.strictObject({ products: z.array(Id) }) },

  handle: ({ body, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const found = await tx<{ id: string }[]>`
        select id from product where workspace_id = ${tx.context.workspaceId} and id = any(${body.products}::uuid[])`
      return ok({ products: found.map(({ id }) => id) })
    }),
})
