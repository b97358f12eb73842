import type { FastifyReply, FastifyRequest } from 'fastify'

/** How long a JSON body may take, in milliseconds: 1 MiB (OP-07) at 0.5 Mbit/s takes 17 s (OP-163). */
export const JSON_WITHIN_MS = 20_000
const UPLOAD_WITHIN_MS = 60_000
/** The slowest upload of a large file: 1 Mbit/s. */
const UPLOAD_BYTES_PER_MS = 131

/** How long an upload of so many bytes may take to arrive, in milliseconds. */
export const uploadWithinMs = (bytes: number): number => UPLOAD_WITHIN_MS + Math.ceil(bytes / UPLOAD_BYTES_PER_MS)

/** Ends a request whose body comes too late for its route. Node's own `requestTimeout` is one limit for all routes. */
export function limitBodyTime({ raw, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return
  const late = setTimeout(() => {
    if (reply.raw.headersSent) raw.destroy()
    else reply.server.server.emit('clientError', requestTimeout(), raw.socket)
  }, routeOptions.config.bodyWithinMs ?? JSON_WITHIN_MS)
  for (const event of ['end', 'close']) raw.once(event, () => clearTimeout(late))
}

/** Has the code of Node's own error. */
const requestTimeout = () => Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
