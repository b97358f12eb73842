import { OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { z } from 'zod'
import { type CallLimits, catalogCalls } from './catalog-calls.ts'
import { catalogUnavailable, refusalOf } from './catalog-refusal.ts'

/** A quantity of a variant, to be taken from stock. */
export interface StockLine {
  readonly variant: string
  readonly quantity: number
}

/**
 * The catalog, as orders calls it in the workspace of a request. Each call throws `service_unavailable` when it has no
 * answer in time; then a take may have happened or not.
 */
export interface Catalog {
  /** The wanted variants that the workspace has, as catalog has them now. One call for up to 1,000 ids and SKUs. */
  readVariants(
    context: RequestContext,
    wanted: { readonly ids: readonly string[]; readonly skus: readonly string[] },
  ): Promise<OrderableVariant[]>
  /**
   * Takes stock under the id of a reservation, once (OP-95). Throws a CatalogError: `conflict` when there is too
   * little, `unprocessable` for a variant that is gone. Its message names a line by its index in `lines`:
   * `items[2].quantity`.
   */
  takeStock(context: RequestContext, reservation: string, lines: readonly StockLine[]): Promise<void>
  /** Returns what a reservation has taken, once (OP-96). */
  releaseStock(context: RequestContext, reservation: string): Promise<void>
}

const Variants = z.object({ variants: z.array(OrderableVariant) })
/** What a take and a release answer begins with; orders needs no more of it. */
const Reserved = z.object({ order: z.string() })

/** Opens connections to catalog. `limits` replace the usual ones in tests. */
export function catalogClient(catalogUrl: string, signer: TokenSigner, limits?: CallLimits): Catalog & Component {
  const { name, post, stop } = catalogCalls(catalogUrl, signer, limits)
  const call = async <Answer>(
    schema: z.ZodType<Answer>,
    ...[context, path, body]: Parameters<typeof post>
  ): Promise<Answer> => {
    const answer = await post(context, path, body)
    if (answer.statusCode >= 300) throw refusalOf(answer.statusCode, answer.body, !answer.isRepeated)
    const { success, data, error } = schema.safeParse(answer.body)
    if (!success) throw catalogUnavailable(error)
    return data
  }
  return {
    name,
    readVariants: async (context, wanted) =>
      (await call(Variants, context, '/internal/variants/read', wanted)).variants,
    takeStock: async (context, order, lines) => {
      const wanted = lines.map(({ variant, quantity }) => ({ variant, quantity }))
      await call(Reserved, context, '/internal/stock/take', { order, lines: wanted })
    },
    releaseStock: async (context, order) => {
      await call(Reserved, context, '/internal/stock/release', { order })
    },
    ...(stop && { stop }),
  }
}
