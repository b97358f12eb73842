import { conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { Name, TimestampInput } from '@backoffice/contracts/fields.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Sql, Transaction } from '@backoffice/postgres/database.ts'
import { isUniqueViolation } from '@backoffice/postgres/postgres-errors.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { ownWorkspace } from '../workspaces/workspace.ts'
import { IssuedKey, issueKey, NewScopes } from './key.ts'

/**
 * POST /admin/v1/workspaces/{id}/keys (OP-04, OP-05, OP-86): `sk_live_…` in a live workspace, `sk_test_…` in a sandbox.
 * From `expires_at` on the key is refused. Throws `conflict` when the Idempotency-Key has made a key before (OP-301).
 */
export const createKey = adminOperation({
  method: 'POST',
  path: '/admin/v1/workspaces/{id}/keys',
  summary: 'Create an API key',
  takesKey: true,
  body: z.strictObject({ name: Name, scopes: NewScopes, expires_at: TimestampInput.nullish() }),
  responses: { 201: IssuedKey },

  async handle({ params, body: { name, scopes, expires_at }, requestKey, act, worker, format }) {
    const id = newId()
    const expiresAt = expires_at ? new Date(expires_at) : null
    try {
      return await act(params.id, [{ action: 'key.created', target: `keys/${id}` }], async (tx) => {
        const { livemode } = await ownWorkspace(tx)
        if (expiresAt !== null) await requireFuture(tx, expiresAt)
        return created(await issueKey(tx, format, { id, livemode, requestKey }, { name, scopes, expiresAt }))
      })
    } catch (error) {
      throw isUniqueViolation(error) ? await madeBefore(worker, requestKey) : error
    }
  },
})

/** The key itself was in the first answer alone. */
async function madeBefore(worker: Sql, requestKey: string | null) {
  const [made] = await worker<{ id: string }[]>`select id from api_key where request_key = ${requestKey}`
  const message = `was used to make key ${made?.id}, whose text is not kept; rotate it, or send a new Idempotency-Key`
  return conflict(['Idempotency-Key'], message, 'answer_not_kept')
}

/** The clock of the database ends keys, so it decides here too. */
async function requireFuture(tx: Transaction, expiresAt: Date): Promise<void> {
  const [row] = await tx<{ isFuture: boolean }[]>`
    select ${expiresAt}::timestamptz > clock_timestamp() as "isFuture"`
  if (!row?.isFuture) throw unprocessable(['expires_at'], 'must lie in the future')
}
