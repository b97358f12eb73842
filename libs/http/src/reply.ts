/** An operation's successful answer. */
export class Reply {
  readonly status: number
  readonly body: unknown
  /** For an answer that holds a secret: what was made, as a repeated Idempotency-Key is told (OP-08). */
  readonly resource: string | undefined

  constructor(status: number, body?: unknown, resource?: string) {
    this.status = status
    this.body = body
    this.resource = resource
  }
}

/** 201 (OP-01). `resource` names what was made when the body holds a secret, which is then never stored. */
export const created = (body: unknown, resource?: string): Reply => new Reply(201, body, resource)
/** 200 (OP-01). */
export const ok = (body: unknown): Reply => new Reply(200, body)
