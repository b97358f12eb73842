import { ApiError, ERROR_STATUS, type ErrorBody, type ErrorCode } from '@backoffice/contracts/errors.ts'
import { OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import { INTERNAL_TOKEN_HEADER, type RequestContext } from '@backoffice/http/internal-token.ts'
import { z } from 'zod'

/** A quantity of a variant, to be taken from stock. */
export interface StockLine {
  readonly variant: string
  readonly quantity: number
}

/**
 * The catalog, as orders calls it with the token of a request. Each call throws `service_unavailable` when it has no answer in time;
 * then a take may have happened or not.
 */
export interface Catalog {
  /** The wanted variants that the workspace has, as catalog has them now. One call for up to 1,000 ids and SKUs. */
  readVariants(
    context: RequestContext,
    wanted: { readonly ids: readonly string[]; readonly skus: readonly string[] },
  ): Promise<OrderableVariant[]>
  /** Takes stock under the id of a reservation, once (OP-95). Throws `conflict` when there is too little, and takes nothing. */
  takeStock(context: RequestContext, reservation: string, lines: readonly StockLine[]): Promise<void>
  /** Returns what a reservation has taken, once (OP-96). */
  releaseStock(context: RequestContext, reservation: string): Promise<void>
}

const TIMEOUT_MS = 2000

const Variants = z.object({ variants: z.array(OrderableVariant) })

export function catalogClient(catalogUrl: string): Catalog {
  const post = async ({ token, requestId, traceparent }: RequestContext, path: string, body: unknown) => {
    const response = await fetch(`${catalogUrl}${path}`, {
      method: 'POST',
      headers: {
        [INTERNAL_TOKEN_HEADER]: token,
        'x-request-id': requestId,
        traceparent,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(unavailable)
    const answer: unknown = await response.json().catch(unavailable)
    if (response.ok) return answer
    throw refusalOf(response.status, answer as ErrorBody)
  }
  return {
    readVariants: async (context, wanted) =>
      Variants.parse(await post(context, '/internal/variants/read', wanted)).variants,
    takeStock: async (context, order, lines) => {
      await post(context, '/internal/stock/take', {
        order,
        lines: lines.map(({ variant, quantity }) => ({ variant, quantity })),
      })
    },
    releaseStock: async (context, order) => {
      await post(context, '/internal/stock/release', { order })
    },
  }
}

/** The refusal that catalog has answered, with its own words. */
function refusalOf(status: number, { error }: ErrorBody): ApiError {
  const isRefusal = status < 500 && error.code in ERROR_STATUS
  return isRefusal ? new ApiError(error.code as ErrorCode, error.message) : unavailable(new Error(error.message))
}

function unavailable(cause: unknown): never {
  throw new ApiError('service_unavailable', 'The service is unavailable for the moment; try again', { cause })
}
