import type { FastifyReply, FastifyRequest } from 'fastify'

const BODY_WITHIN_MS = 60_000
/** The slowest upload of a large file: 1 Mbit/s. */
const FILE_BYTES_PER_MS = 131

/** How long a body of so many bytes may take to arrive, in milliseconds. */
export const withinMs = (bytes: number): number => BODY_WITHIN_MS + Math.ceil(bytes / FILE_BYTES_PER_MS)

/**
 * Ends a request whose body is not complete within its route's limit; Node's own `requestTimeout` has one limit for all
 * routes. Answers it as malformed, unless an answer has begun, and closes the connection.
 */
export function limitBodyTime({ raw, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return
  const late = setTimeout(() => {
    if (reply.raw.headersSent) raw.destroy()
    else reply.server.server.emit('clientError', requestTimeout(), raw.socket)
  }, routeOptions.config.bodyWithinMs ?? BODY_WITHIN_MS)
  for (const event of ['end', 'close']) raw.once(event, () => clearTimeout(late))
}

/** Has the code of Node's own error. */
const requestTimeout = () => Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
