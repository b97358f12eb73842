import { createHash } from 'node:crypto'
import { conflict } from '@backoffice/contracts/errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { Database, Transaction } from './database.ts'
import { expireRows } from './expire-rows.ts'

/** A write with an `Idempotency-Key`: sent again, it takes effect once (OP-08). */
export interface IdempotentRequest {
  readonly key: string
  /** Differs for another request with the same key. */
  readonly fingerprint: string
  /** A second fingerprint under which the first request may be stored: with `{}`, or without a body (OP-09). */
  readonly orFingerprint?: string
}

export interface StoredAnswer {
  readonly status: number
  readonly body: unknown
}

/** SHA-256 of method, path and body. */
export const fingerprintOf = (method: string, path: string, body: unknown): string =>
  createHash('sha256')
    .update(`${method} ${path}\n`)
    .update(JSON.stringify(body) ?? '')
    .digest('base64')

/**
 * Claims the key for this transaction, or returns the answer of the first request with it, for whose end it waits.
 * Throws `conflict` when that was a different request, or its answer is not kept: it held a secret, or data of an
 * erased customer (OP-130).
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
  const stored = await findAnswer(tx, request)
  if (stored === undefined)
    throw conflict(['Idempotency-Key'], 'has expired this moment; send the request again', 'clashed')
  return stored
}

/** The answer to a committed request with the key; undefined when there is none. Throws as `claimKey` does. */
export async function findAnswer(tx: Transaction, request: IdempotentRequest): Promise<StoredAnswer | undefined> {
  const [stored] = await tx<{ fingerprint: string; status: number; body: unknown; resource: string | null }[]>`
    select fingerprint, status, body, resource from idempotency_key
    where workspace_id = ${tx.context.workspaceId} and key = ${request.key}
      and created_at >= now() - interval '24 hours'`
  if (stored === undefined) return undefined
  if (![request.fingerprint, request.orFingerprint].includes(stored.fingerprint)) {
    throw conflict(['Idempotency-Key'], 'was used for another request within 24 hours; send a new key', 'key_reused')
  }
  if (stored.resource !== null) {
    throw conflict(
      ['Idempotency-Key'],
      `was used to make ${stored.resource}; its answer held a secret or personal data and is not kept`,
      'answer_not_kept',
    )
  }
  return { status: stored.status, body: stored.body }
}

/** Stores the answer for replays. With `resource`, a created resource's name, its body is a secret and not stored. */
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

const EVERY_MS = 60_000
const BATCH_SIZE = 1000

/** Deletes idempotency keys older than 24 h (OP-08), in batches; `db` connects as the worker role. */
export const expireIdempotencyKeys = (db: Database, logger: Logger) =>
  expireRows(db, logger, {
    name: 'idempotency keys',
    everyMs: EVERY_MS,
    batchSize: BATCH_SIZE,
    deleteBatch: () => deleteExpired(db),
  })

/** Deletes one batch and returns its number of keys. One that a request is claiming anew is passed over. */
export async function deleteExpired(db: Database): Promise<number> {
  const { count } = await db.sql`
    delete from idempotency_key where (workspace_id, key) in (
      select workspace_id, key from idempotency_key
      where created_at < now() - interval '24 hours'
      order by created_at limit ${BATCH_SIZE} for update skip locked
    )`
  return count
}
