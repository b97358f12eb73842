import { ApiError, ERROR_STATUS, type ErrorCode, errorReasonIn } from '@backoffice/contracts/errors.ts'
import type { InternalAnswer } from '@backoffice/http/internal-calls.ts'
import type { SlotRefusal } from '@backoffice/runtime/fair-slots.ts'
import { z } from 'zod'
import { tooManyUnderWay } from './too-many-under-way.ts'

/** A failed call to catalog, as a refusal of the request to orders. */
export class CatalogError extends ApiError {
  /** Whether the call certainly has no effect. False without an answer, or while an earlier attempt may have one. */
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

/** The error for a call without an answer. It may have had an effect, unless `isDefinite`: then it was not sent. */
export const catalogUnavailable = (cause: unknown, isDefinite = false): CatalogError =>
  new CatalogError('service_unavailable', 'The service is unavailable for the moment; try again', isDefinite, { cause })

/** The error for a call that found no slot, and was not sent. */
export const tooManyCalls = (why: SlotRefusal): CatalogError =>
  new CatalogError('service_unavailable', tooManyUnderWay('orders', why), true)

const Refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) })

/** The codes that the caller of orders is to see. Others would be mistakes of orders. */
const SHOWN: readonly string[] = ['bad_request', 'conflict', 'unprocessable'] satisfies ErrorCode[]

/**
 * The error for an answer of catalog other than 2xx. A message about `lines[2]` becomes one about `items[2]`, since
 * both are in the same order. A refusal that is not about lines is `service_unavailable`: the reservation was released
 * before the take arrived, or orders sent something wrong.
 */
export function refusalOf(
  { statusCode, body, errorReason: header }: InternalAnswer,
  isDefinite: boolean,
): CatalogError {
  const { data } = Refusal.safeParse(body)
  const { code = '', message = '' } = data?.error ?? {}
  const isShown = SHOWN.includes(code) && ERROR_STATUS[code as ErrorCode] === statusCode && message.startsWith('lines[')
  if (!isShown) return catalogUnavailable(new Error(`catalog answered ${statusCode} ${code} ${message}`))
  const errorReason = errorReasonIn(code as ErrorCode, header)
  return new CatalogError(code as ErrorCode, message.replaceAll(/(^|; )lines\[/g, '$1items['), isDefinite, {
    errorReason,
  })
}
