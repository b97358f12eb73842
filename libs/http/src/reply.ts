/** An operation's successful answer. */
export class Reply {
  readonly status: number
  readonly body: unknown
  /** The created resource, for an answer with a secret: a repeated Idempotency-Key is refused with its name (OP-08). */
  readonly resource: string | undefined

  constructor(status: number, body?: unknown, resource?: string) {
    this.status = status
    this.body = body
    this.resource = resource
  }
}

/** 201 (OP-01). `resource` names the created resource when the body holds a secret; such a body is never stored. */
export const created = (body: unknown, resource?: string): Reply => new Reply(201, body, resource)
/** 200 (OP-01). */
export const ok = (body: unknown): Reply => new Reply(200, body)
/** 202: the work goes on after the answer (OP-50). */
export const accepted = (body: unknown): Reply => new Reply(202, body)
