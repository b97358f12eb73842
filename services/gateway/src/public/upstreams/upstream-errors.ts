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

/** Pauses in milliseconds: enough for a service that restarts, short for a caller. */
const PAUSES = [50, 200]

/**
 * The pauses before further attempts: none unless a request can be sent again without a second effect, since nothing
 * was sent, or the method only reads.
 */
export function pausesBefore(error: unknown, method: string): readonly number[] {
  const code = codeOf(error)
  const isSafe = NOT_CONNECTED.has(code) || (LOST.has(code) && (method === 'GET' || method === 'HEAD'))
  if (!isSafe) return []
  // A connection that takes too long has made the caller wait for seconds.
  return code === 'UND_ERR_CONNECT_TIMEOUT' ? PAUSES.slice(0, 1) : PAUSES
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
