import { ApiError } from '@backoffice/contracts/errors.ts'
import type { FastifyRequest } from 'fastify'

/** Throws `unsupported_media_type` for a compressed body (RFC 9110, 8.4), which would look like malformed JSON. */
export function refuseEncodedBody({ headers }: Pick<FastifyRequest['raw'], 'headers'>): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return
  throw new ApiError('unsupported_media_type', 'Content-Encoding: must be absent; send the body as it is', {
    headers: { 'accept-encoding': 'identity' },
    errorReason: 'wrong_encoding',
  })
}
