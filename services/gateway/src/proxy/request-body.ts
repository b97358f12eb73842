import type { IncomingMessage } from 'node:http'
import { ApiError } from '@backoffice/contracts/errors.ts'

const tooLarge = (maxBytes: number) => new ApiError('payload_too_large', `body: is larger than ${maxBytes} bytes`)

/**
 * The body of a request as a stream of chunks; undefined when there is none (the body of a GET has no meaning). Throws
 * `payload_too_large` at once when Content-Length exceeds `maxBytes`, and while streaming when more bytes arrive (OP-07).
 */
export function requestBody(request: IncomingMessage, maxBytes: number): AsyncIterable<Buffer> | undefined {
  const length = request.headers['content-length']
  if (length !== undefined && Number(length) > maxBytes) throw tooLarge(maxBytes)
  if (request.method === 'GET' || request.method === 'HEAD') return undefined
  const isEmpty = (length === undefined && request.headers['transfer-encoding'] === undefined) || length === '0'
  return isEmpty ? undefined : limited(request, maxBytes)
}

async function* limited(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
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
