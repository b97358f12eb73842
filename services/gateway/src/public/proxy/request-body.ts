import type { IncomingMessage } from 'node:http'
import { ApiError } from '@backoffice/contracts/errors.ts'

/**
 * Whether a request has a body; the body of a GET has no meaning. Throws `payload_too_large` when Content-Length exceeds `maxBytes`
 * (OP-07).
 */
export function hasBody({ method, headers }: IncomingMessage, maxBytes: number): boolean {
  const length = headers['content-length']
  if (length !== undefined && Number(length) > maxBytes) throw tooLarge(maxBytes)
  if (method === 'GET' || method === 'HEAD' || length === '0') return false
  return length !== undefined || headers['transfer-encoding'] !== undefined
}

/** The chunks of a request's body as they arrive. Throws `payload_too_large` when there are more than `maxBytes` (OP-07). */
export async function* chunksOf(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let received = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      received += chunk.length
      if (received > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } finally {
    request.resume() // Drops the rest of an unread body, so that the client comes to read its answer.
  }
}

const tooLarge = (maxBytes: number) => new ApiError('payload_too_large', `body: is larger than ${maxBytes} bytes`)
