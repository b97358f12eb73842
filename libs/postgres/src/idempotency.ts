import { createHash } from 'node:crypto'
import { conflict } from '@backoffice/contracts/errors.ts'
import type { Transaction } from './database.ts'

/** A write that names itself, so that sending it again does not do it again (OP-08). */
export interface IdempotentRequest {
  readonly key: string
  /** Tells the same request from another one under the same key. */
  readonly fingerprint: string
}

/** A successful answer as it is replayed. */
export interface StoredAnswer {
  readonly status: number
  readonly body: unknown
}

/** SHA-256 over what makes two requests the same: method, path and body. */
export const fingerprintOf = (method: string, path: string, body: unknown): string =>
  createHash('sha256')
    .update(`${method} ${path}\n`)
    .update(JSON.stringify(body) ?? '')
    .digest('base64')

/**
 * Claims the key for this transaction, or returns the answer that the first request under it got. A second request under
 * the same key waits here until the first has committed or rolled back. Throws `conflict` when the key belongs to another
 * request, or to one whose answer held a secret.
 */
export async function claimKey(tx: Transaction, request: IdempotentRequest): Promise<StoredAnswer | undefined> {
  const claimed = await tx`
    insert into idempotency_key (workspace_id, key, fingerprint)
    values (${tx.context.workspaceId}, ${request.key}, ${request.fingerprint})
    on conflict (workspace_id, key) do update
      set fingerprint = excluded.fingerprint, status = null, body = null, resource = null, created_at = now()
      where idempotency_key.created_at < now() - interval '24 hours'
    returning key`
  if (claimed.length > 0) return undefined
  const [stored] = await tx<{ fingerprint: string; status: number; body: unknown; resource: string | null }[]>`
    select fingerprint, status, body, resource from idempotency_key
    where workspace_id = ${tx.context.workspaceId} and key = ${request.key}`
  if (stored?.fingerprint !== request.fingerprint) {
    throw conflict('Idempotency-Key: was used for another request within 24 hours; send a new key')
  }
  if (stored.resource !== null) {
    throw conflict(`Idempotency-Key: was used to make ${stored.resource}, whose secret was shown once and is not kept`)
  }
  return { status: stored.status, body: stored.body }
}

/** Keeps the answer for replays. With `resource`, the answer holds a secret: only the name of what was made is kept. */
export async function storeAnswer(
  tx: Transaction,
  request: IdempotentRequest,
  answer: StoredAnswer,
  resource?: string,
): Promise<void> {
  const body = resource === undefined && answer.body !== undefined ? JSON.stringify(answer.body) : null
  await tx`
    update idempotency_key set status = ${answer.status}, body = ${body}::text::json, resource = ${resource ?? null}
    where workspace_id = ${tx.context.workspaceId} and key = ${request.key}`
}
