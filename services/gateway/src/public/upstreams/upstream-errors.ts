import { ApiError } from '@backoffice/contracts/errors.ts'
import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { errors } from 'undici'

/** The connection failed, so nothing of the request was sent. */
const NOT_CONNECTED = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])
/** The connection was lost after some of the request was sent. */
const LOST = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
/** The answer came too slowly, or stopped coming. */
const TOO_SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/** Whether a request can be sent again without a second effect: nothing was sent, or the method only reads. */
export function isSafeToRepeat(error: unknown, method: string): boolean {
  const code = codeOf(error)
  return code === 'ECONNREFUSED' || (LOST.has(code) && (method === 'GET' || method === 'HEAD'))
}

/**
 * The error for the client when a service did not answer, or not to the end (OP-02). Returns other errors unchanged.
 */
export function refusalOf<Failure>(error: Failure, service: string): Failure | ApiError {
  const code = codeOf(error)
  const options = { cause: error }
  if (NOT_CONNECTED.has(code)) return new ApiError('service_unavailable', `${service} cannot be reached now`, options)
  if (LOST.has(code) || error instanceof errors.HTTPParserError) {
    const message = `${service} gave no whole answer; it may have done what was asked, so repeat with an Idempotency-Key`
    return new ApiError('service_unavailable', message, options)
  }
  if (TOO_SLOW.has(code)) return new ApiError('gateway_timeout', `${service} did not answer in time`, { cause: error })
  return error
}

/** The error for a request that gets no slot, by whose requests are too many (OP-161). */
export const tooBusy = (service: string, owner: 'workspace' | 'address') =>
  slotRefusals({
    owner: `This ${owner} has too many requests to ${service} under way; send fewer at once`,
    all: `${service} has too many requests to answer`,
  })

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
