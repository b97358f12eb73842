import type { Readable } from 'node:stream'
import { StreamedBody } from './streamed.ts'

export class Reply {
  readonly status: number
  /** Sent as JSON, unless it is a StreamedBody. */
  readonly body: unknown
  /** The created resource, for an answer with a secret: a repeated Idempotency-Key is refused with its name (OP-08). */
  readonly resource: string | undefined
  /** The stored answer of a repeated request (OP-08). */
  readonly isReplayed: boolean

  constructor(status: number, body?: unknown, resource?: string, isReplayed = false) {
    this.status = status
    this.body = body
    this.resource = resource
    this.isReplayed = isReplayed
  }
}

/** 201 (OP-01). `resource` names the created resource when the body holds a secret; such a body is never stored. */
export const created = (body: unknown, resource?: string): Reply => new Reply(201, body, resource)
/** 202: the request is taken, and what it asks for goes on. */
export const accepted = (body: unknown): Reply => new Reply(202, body)
/** 200 (OP-01). */
export const ok = (body: unknown): Reply => new Reply(200, body)
/**
 * 200 with a stream, for a GET only: what an Idempotency-Key stores is JSON. An error before the first chunk is
 * answered; after it, the connection is closed, so that no client takes a part for the whole. `content` is destroyed
 * when the client goes away. `headers` are in lower case.
 */
export const okStream = (mediaType: string, content: Readable, headers: Readonly<Record<string, string>> = {}): Reply =>
  new Reply(200, new StreamedBody(mediaType, content, headers))
