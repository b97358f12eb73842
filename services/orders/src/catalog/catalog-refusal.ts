import {
  ApiError,
  ERROR_STATUS,
  type ErrorCode,
  errorReasonIn,
  refusedMembers,
  shownMessage,
} from '@backoffice/contracts/errors.ts'
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

const Member = z.object({ path: z.array(z.union([z.string(), z.int()])), reason: z.string() })
type Member = z.output<typeof Member>
const Refusal = z.object({
  error: z.object({ code: z.string(), message: z.string(), members: z.array(Member).optional() }),
})

/** The codes that the caller of orders is to see. Others would be mistakes of orders. */
const SHOWN: readonly string[] = ['bad_request', 'conflict', 'unprocessable'] satisfies ErrorCode[]

/**
 * The error for an answer of catalog other than 2xx. What is about `lines[2]` becomes about `items[2]`, since both are
 * in the same order. A refusal that is not about lines is `service_unavailable`: the reservation was released
 * before the take arrived, or orders sent something wrong.
 */
export function refusalOf(
  { statusCode, body, errorReason: header }: InternalAnswer,
  isDefinite: boolean,
): CatalogError {
  const { data } = Refusal.safeParse(body)
  const { code = '', message = '', members } = data?.error ?? {}
  const shown = members && ofItems(members)
  const isRefusal = SHOWN.includes(code) && ERROR_STATUS[code as ErrorCode] === statusCode
  if (!isRefusal || shown === undefined)
    return catalogUnavailable(new Error(`catalog answered ${statusCode} ${code} ${message}`))
  const errorReason = errorReasonIn(code as ErrorCode, header)
  return new CatalogError(code as ErrorCode, shown, isDefinite, { errorReason })
}

/** The message about items of what is about lines; undefined when some of it is not. */
function ofItems(members: readonly Member[]): string | undefined {
  if (members.some(({ path: [list, index] }) => list !== 'lines' || typeof index !== 'number')) return undefined
  const items = members.map(({ path, reason }) => ({ path: ['items', ...path.slice(1)], reason }))
  return shownMessage(refusedMembers('unprocessable', items).message)
}
