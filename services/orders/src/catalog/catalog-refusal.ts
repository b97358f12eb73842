import { ApiError, ERROR_STATUS, type ErrorCode } from '@backoffice/contracts/errors.ts'
import { z } from 'zod'

/** What catalog refuses, in the words of the request to orders. */
export class CatalogRefusal extends ApiError {
  /** Whether nothing was or will be taken. Not so when an earlier attempt of the same call may still take effect. */
  readonly isDefinite: boolean

  constructor(code: ErrorCode, message: string, isDefinite: boolean) {
    super(code, message)
    this.isDefinite = isDefinite
  }
}

const RETRY_AFTER = { 'retry-after': '1' }

/** The error for a call without an answer. Then it may have taken effect or not. */
export const catalogUnavailable = (cause: unknown): ApiError =>
  new ApiError('service_unavailable', 'The service is unavailable for the moment; try again', {
    cause,
    headers: RETRY_AFTER,
  })

/** The error for a call that found no slot, and was not made. */
export const tooManyCalls = (): ApiError =>
  new ApiError('service_unavailable', 'This workspace has too many orders under way; try again', {
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
export function refusalOf(status: number, body: unknown, isDefinite: boolean): ApiError {
  const { data } = Refusal.safeParse(body)
  const { code = '', message = '' } = data?.error ?? {}
  const isShown = SHOWN.includes(code) && ERROR_STATUS[code as ErrorCode] === status && message.startsWith('lines[')
  if (!isShown) return catalogUnavailable(new Error(`catalog answered ${status} ${code} ${message}`))
  return new CatalogRefusal(code as ErrorCode, message.replaceAll(/(^|; )lines\[/g, '$1items['), isDefinite)
}
