import type { IncomingMessage } from 'node:http'
import { deadline } from '@backoffice/runtime/deadline.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** How long a JSON body may take, in milliseconds: 1 MiB (OP-07) at 0.5 Mbit/s takes 17 s (OP-163). */
export const JSON_WITHIN_MS = 20_000
const UPLOAD_WITHIN_MS = 60_000
/** How long an upload may stand still, in milliseconds (OP-190). */
export const UPLOAD_IDLE_MS = 30_000
/** The slowest upload of a large file: 1 Mbit/s. */
const UPLOAD_BYTES_PER_MS = 131

/** How long an upload of so many bytes may take to arrive, in milliseconds. */
export const uploadWithinMs = (bytes: number): number => UPLOAD_WITHIN_MS + Math.ceil(bytes / UPLOAD_BYTES_PER_MS)

/** The least bytes of an upload that must arrive in its `bodyIdleMs`: less than a modem sends in 30 s (OP-190). */
const PROGRESS_BYTES = 64 * 1024

/** How long the rest of a body may take once its request is answered, in milliseconds: the client may read later. */
const REST_WITHIN_MS = 20_000

/**
 * Ends a request whose body comes too late for its route, stands still for too long, or goes on after the answer.
 * Node's own `requestTimeout` is one limit for all routes.
 */
export function limitBodyTime({ raw, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return
  const { bodyWithinMs = JSON_WITHIN_MS, bodyIdleMs } = routeOptions.config
  const end = () => {
    if (raw.complete) return
    if (reply.raw.headersSent) raw.destroy()
    else reply.server.server.emit('clientError', requestTimeout(), raw.socket)
  }
  const late = setTimeout(end, bodyWithinMs)
  let rest: NodeJS.Timeout | undefined
  reply.raw.once('finish', () => {
    if (!raw.complete) rest = setTimeout(end, REST_WITHIN_MS)
  })
  const progress = bodyIdleMs === undefined ? undefined : watchProgress(raw, bodyIdleMs, end)
  for (const event of ['end', 'close']) {
    raw.once(event, () => {
      clearTimeout(late)
      clearTimeout(rest)
      progress?.()
    })
  }
}

/**
 * Calls `stalled` when less than PROGRESS_BYTES arrive within `idleMs`. The time in which nobody reads what has arrived
 * does not count, such as the wait for a slot. Returns the function that ends the watch.
 */
function watchProgress(raw: IncomingMessage, idleMs: number, stalled: () => void): () => void {
  let stop = () => {}
  const watch = () => {
    const before = raw.socket.bytesRead
    stop = deadline(idleMs, () => {
      if (raw.socket.bytesRead - before < PROGRESS_BYTES && raw.readableLength === 0) stalled()
      else watch()
    })
  }
  watch()
  return () => stop()
}

/** Has the code of Node's own error. */
const requestTimeout = () => Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
