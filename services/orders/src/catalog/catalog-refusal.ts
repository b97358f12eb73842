import { ApiError, ERROR_STATUS, type ErrorCode } from '@backoffice/contracts/errors.ts'
import { z } from 'zod'

/** A call to catalog that failed, in the words of the request to orders. */
export class CatalogError extends ApiError {
  /** Whether the call has no effect, now or later. Not so without an answer, or when an earlier attempt may still take effect. */
  readonly isDefinite: boolean

  constructor(
    code: ErrorCode,
    message: string,
    isDefinite: boolean,
    options?: ConstructorParameters<typeof ApiError>[2],
  ) {
    super(code, message, options)
    this.isDefinite = isDefinite
  }
}

const RETRY_AFTER = { 'retry-after': '1' }

/** The error for a call without an answer. Then it may have taken effect or not, unless `isDefinite`: it was not sent. */
export const catalogUnavailable = (cause: unknown, isDefinite = false): CatalogError =>
  new CatalogError('service_unavailable', 'The service is unavailable for the moment; try again', isDefinite, {
    cause,
    headers: RETRY_AFTER,
  })

/** The error for a call that found no slot, and was not sent. */
export const tooManyCalls = (): CatalogError =>
  new CatalogError('service_unavailable', 'This workspace has too many orders under way; try again', true, {
    headers: RETRY_AFTER,
  })

const Refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) })

/** The codes that the caller of orders is to see. Others would be mistakes of orders. */
const SHOWN: readonly string[] = ['bad_request', 'conflict', 'unprocessable'] satisfies ErrorCode[]

/**
 * The error for an answer of catalog other than 2xx. What it says about `lines[2]` is said about `items[2]`, because the lines are in
 * the order of the items. A refusal that is not about lines is `service_unavailable`: the reservation was released before the take
 * arrived, or orders sent something wrong.
 */
export function refusalOf(status: number, body: unknown, isDefinite: boolean): CatalogError {
  const { data } = Refusal.safeParse(body)
  const { code = '', message = '' } = data?.error ?? {}
  const isShown = SHOWN.includes(code) && ERROR_STATUS[code as ErrorCode] === status && message.startsWith('lines[')
  if (!isShown) return catalogUnavailable(new Error(`catalog answered ${status} ${code} ${message}`))
  return new CatalogError(code as ErrorCode, message.replaceAll(/(^|; )lines\[/g, '$1items['), isDefinite)
}
