import { ApiError } from '@backoffice/contracts/errors.ts'
import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'

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
const TOO_SLOW = 'UND_ERR_HEADERS_TIMEOUT'

/** Whether a request can be sent again without a second effect: nothing was sent, or the method only reads. */
export function isSafeToRepeat(error: unknown, method: string): boolean {
  const code = codeOf(error)
  return code === 'ECONNREFUSED' || (LOST.has(code) && (method === 'GET' || method === 'HEAD'))
}

/** The error for the client when a service did not answer (OP-02). Returns other errors unchanged. */
export function refusalOf(error: unknown, service: string): unknown {
  const code = codeOf(error)
  const options = { cause: error }
  if (NOT_CONNECTED.has(code)) return new ApiError('service_unavailable', `${service} cannot be reached now`, options)
  if (LOST.has(code)) {
    const message = `${service} went away before it answered; it may have done what was asked, so repeat with an Idempotency-Key`
    return new ApiError('service_unavailable', message, options)
  }
  if (code === TOO_SLOW) return new ApiError('gateway_timeout', `${service} did not answer in time`, { cause: error })
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
