import type { IncomingMessage } from 'node:http'
import { ApiError } from '@backoffice/contracts/errors.ts'

const tooLarge = (maxBytes: number) => new ApiError('payload_too_large', `body: is larger than ${maxBytes} bytes`)

/**
 * The body to pass on, chunk by chunk as it comes in; undefined when there is none (a GET's body means nothing). Throws
 * `payload_too_large` at once when Content-Length says more than `maxBytes`, and while streaming when more than that
 * arrives (OP-07).
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
    request.resume() // What is left of a body nobody wants is read and dropped, so that the client gets to its answer.
  }
}
