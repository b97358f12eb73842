import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { EVENT_STREAM } from './streamed.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Makes each answer end its connection, so that clients open the next one elsewhere. */
    drain(): void
  }
}

/** The time for a client to take the rest of its events, in milliseconds. */
const END_WITHIN_MS = 1_000

/**
 * Makes `app.close()` wait for answers only: each ends its connection. Server-sent events, which have no end, end at
 * once; other streams go on to their end. The returned function says whether answers end their connections now.
 */
export function endWithTheAnswers(app: FastifyInstance): () => boolean {
  let isDraining = false
  let isClosing = false
  const streams = new Map<ServerResponse, Readable>()
  app.addHook('onSend', async (_request, reply, payload) => {
    if (isDraining) reply.header('connection', 'close')
    if (!(payload instanceof Readable)) return payload
    if (isClosing && isEndless(reply.getHeader('content-type'))) {
      payload.destroy()
      return Readable.from([])
    }
    streams.set(reply.raw, payload)
    reply.raw.once('close', () => streams.delete(reply.raw))
    return payload
  })
  app.decorate('drain', () => {
    isDraining = true
  })
  app.addHook('preClose', async () => {
    app.drain()
    isClosing = true
    for (const [response, content] of streams) {
      const { socket } = response
      // The headers may have been sent without `connection: close`.
      response.once('finish', () => socket?.end())
      if (isEndless(response.getHeader('content-type'))) end(response, content)
    }
  })
  return () => isDraining
}

const isEndless = (type: unknown): boolean => String(type).startsWith(EVENT_STREAM)

/** Ends an answer before its content does. */
function end(response: ServerResponse, content: Readable): void {
  const stalled = setTimeout(() => response.destroy(), END_WITHIN_MS)
  response.once('close', () => clearTimeout(stalled))
  content.unpipe(response)
  response.end()
}
