import { unprocessable } from '@backoffice/contracts/errors.ts'
import { Name, TimestampInput } from '@backoffice/contracts/fields.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { ownWorkspace } from '../workspaces/workspace.ts'
import { IssuedKey, issueKey, NewScopes } from './key.ts'

/**
 * POST /admin/v1/workspaces/{id}/keys (OP-04, OP-05, OP-86): `sk_live_…` in a live workspace, `sk_test_…` in a sandbox.
 * From `expires_at` on the key is refused.
 */
export const createKey = adminOperation({
  method: 'POST',
  path: '/admin/v1/workspaces/{id}/keys',
  summary: 'Create an API key',
  body: z.strictObject({ name: Name, scopes: NewScopes, expires_at: TimestampInput.nullish() }),
  responses: { 201: IssuedKey },

  handle({ params, body: { name, scopes, expires_at }, act, format }) {
    const id = uuidv7()
    const expiresAt = expires_at ? new Date(expires_at) : null
    return act(params.id, [{ action: 'key.created', target: `keys/${id}` }], async (tx) => {
      const { livemode } = await ownWorkspace(tx)
      if (expiresAt !== null) await requireFuture(tx, expiresAt)
      const terms = { name, kind: 'workspace', scopes, appKeyId: null, expiresAt } as const
      return created(await issueKey(tx, format, { id, livemode }, terms))
    })
  },
})

/** The clock of the database ends keys, so it decides here too. */
async function requireFuture(tx: Transaction, expiresAt: Date): Promise<void> {
  const [row] = await tx<{ isFuture: boolean }[]>`
    select ${expiresAt}::timestamptz > clock_timestamp() as "isFuture"`
  if (!row?.isFuture) throw unprocessable(['expires_at'], 'must lie in the future')
}
