import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

export const EVENT_STREAM = 'text/event-stream'

/** The declaration of a streamed answer: `200: new Streamed('text/csv; charset=utf-8', 'sku,stock')`. */
export class Streamed {
  readonly mediaType: string
  /** What such an answer begins with, as the OpenAPI document shows it. */
  readonly example: string

  constructor(mediaType: string, example: string) {
    this.mediaType = mediaType
    this.example = example
  }
}

export class StreamedBody {
  readonly mediaType: string
  readonly content: Readable
  readonly headers: Readonly<Record<string, string>>

  constructor(mediaType: string, content: Readable, headers: Readonly<Record<string, string>>) {
    this.mediaType = mediaType
    this.content = content
    this.headers = headers
    // Nobody else listens before it is sent, and an error without a listener ends the process.
    content.on('error', () => undefined)
  }
}

/** Makes a browser save an answer as a file. Of the name, letters, digits, `.`, `_` and `-` stay. */
export const savedAs = (fileName: string): Record<string, string> => ({
  'content-disposition': `attachment; filename="${fileName.replaceAll(/[^\w.-]+/g, '_')}"`,
})

/** Sends a streamed answer. A HEAD gets its headers only. Throws the error of a stream that has failed already. */
export function sendStream(request: FastifyRequest, response: FastifyReply, body: StreamedBody): FastifyReply {
  const { mediaType, content } = body
  if (content.errored) throw content.errored
  response.headers({ 'cache-control': 'no-store', ...body.headers })
  response.type(mediaType)
  if (request.method === 'HEAD') {
    content.destroy()
    // An empty stream, since Fastify would give an answer without a body the content-length 0.
    return response.send(Readable.from([]))
  }
  content.once('error', (error) => {
    if (response.raw.headersSent) request.logged = { ...request.logged, err: error }
  })
  return response.send(content)
}
