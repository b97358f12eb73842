import type { FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long a body may take to arrive, in milliseconds; 60 s unless given. */
    bodyWithinMs?: number
  }
}

const BODY_WITHIN_MS = 60_000
/** The slowest line that a large file may come over: 1 Mbit/s. */
const FILE_BYTES_PER_MS = 131

/** How long a body of so many bytes may take to arrive, in milliseconds. */
export const withinMs = (bytes: number): number => BODY_WITHIN_MS + Math.ceil(bytes / FILE_BYTES_PER_MS)

/**
 * Ends a request whose body is not complete in its route's time, as Node does by itself at one time for all routes
 * (`requestTimeout`): answered as malformed where no answer has begun, and the connection closed.
 */
export function limitBodyTime({ raw, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return
  const late = setTimeout(() => {
    if (reply.raw.headersSent) raw.destroy()
    else reply.server.server.emit('clientError', new RequestTimeout(), raw.socket)
  }, routeOptions.config.bodyWithinMs ?? BODY_WITHIN_MS)
  for (const event of ['end', 'close']) raw.once(event, () => clearTimeout(late))
}

/** Named as Node names its own. */
class RequestTimeout extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT'
}
