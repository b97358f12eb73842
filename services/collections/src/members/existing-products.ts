import { ApiError } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import { z } from 'zod'

/** Finds those of the products that the workspace has. Throws `service_unavailable` while catalog is away. */
export type FindExistingProducts = (
  context: RequestContext,
  products: readonly string[],
) => Promise<ReadonlySet<string>>

const Existing = z.object({ products: z.array(Id) })

/** Asks the catalog, where products are made. */
export const existingProducts =
  (catalog: InternalCalls): FindExistingProducts =>
  async (caller, products) => {
    const path = '/internal/products/existing'
    const { requestId, traceparent } = caller
    const call = { caller, requestId, traceparent, method: 'POST', path, body: { products }, answer: Existing } as const
    const answer = await catalog.send(call).catch((error: unknown) => {
      // An older replica, during a deploy.
      const hasNoSuchOperation = error instanceof ApiError && error.code === 'not_found'
      throw hasNoSuchOperation ? new ApiError('service_unavailable', 'try again in a moment', { cause: error }) : error
    })
    return new Set(answer.products)
  }
