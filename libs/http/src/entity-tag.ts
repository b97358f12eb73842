import { createHash } from 'node:crypto'
import { ApiError, badRequest } from '@backoffice/contracts/errors.ts'

/** The entity tag of an answer: a digest of its JSON (OP-266). */
export const entityTag = (json: string): string =>
  `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"`

/**
 * Whether a condition, `If-Match` or `If-None-Match`, names the tag. A weak one is taken too: the gateway weakens the
 * tags of answers that it compresses, and they stand for the same JSON.
 */
export const namesTag = (condition: string, tag: string): boolean =>
  condition.split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, '')))

/** Throws `precondition_failed` when a request's `If-Match` does not name the tag of `body`, what GET answers now. */
export function requireTag(ifMatch: string, body: unknown): void {
  if (namesTag(ifMatch, entityTag(JSON.stringify(body)))) return
  throw new ApiError('precondition_failed', 'has changed since; read it again, and send its ETag', {
    path: ['If-Match'],
  })
}

/** Throws `bad_request` for a condition that would be ignored: the client takes its change for guarded (OP-266). */
export function refuseCondition(headers: Readonly<Record<string, unknown>>): void {
  if (headers['if-match'] === undefined) return
  throw badRequest(['If-Match'], 'this operation takes none; send the request without it', 'condition_not_taken')
}
