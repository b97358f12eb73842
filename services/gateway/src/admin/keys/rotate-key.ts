import { conflict } from '@backoffice/contracts/errors.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { type Act, adminOperation } from '../admin-operation.ts'
import { ownWorkspace } from '../workspaces/workspace.ts'
import { IssuedKey, issueKey, type KeyTerms } from './key.ts'
import { workspaceOfKey } from './revoke-key.ts'

const MAX_OVERLAP_S = 86_400

export const RotateKeyBody = z
  .strictObject({ overlap_seconds: z.int().min(0).max(MAX_OVERLAP_S).default(0) })
  .prefault({})

/**
 * POST /admin/v1/keys/{id}/rotate (OP-05, OP-86): creates a key with the same name, kind, scopes and expiry, and
 * revokes the old one at once or after `overlap_seconds`. Throws `conflict` for a key that is revoked, has been
 * rotated, has expired or is not activated yet.
 */
export const rotateKey = adminOperation({
  method: 'POST',
  path: '/admin/v1/keys/{id}/rotate',
  body: RotateKeyBody,
  responses: { 201: IssuedKey },

  async handle({ params, body, worker, act, format }) {
    const workspaceId = await workspaceOfKey(worker, params.id)
    const id = uuidv7()
    const acts: Act[] = [
      { action: 'key.rotated', target: `keys/${params.id}` },
      { action: 'key.created', target: `keys/${id}` },
    ]
    return act(workspaceId, acts, async (tx) => {
      const { livemode } = await ownWorkspace(tx)
      const terms = await retireKey(tx, params.id, body.overlap_seconds)
      return created(await issueKey(tx, format, { id, livemode }, terms))
    })
  },
})

/** The row's lock lets one of several simultaneous rotations through. */
async function retireKey(tx: Transaction, id: string, overlapSeconds: number): Promise<KeyTerms> {
  const [old] = await tx<KeyTerms[]>`
    update api_key set revoked_at = clock_timestamp() + make_interval(secs => ${overlapSeconds})
    where workspace_id = ${tx.context.workspaceId} and id = ${id} and revoked_at is null
      and activated_at is not null and (expires_at is null or expires_at > clock_timestamp())
    returning name, kind, scopes, app_key_id as "appKeyId", expires_at as "expiresAt"`
  if (old === undefined) {
    throw conflict([], `API key ${id} has been rotated or revoked already, has expired, or is not activated yet`)
  }
  return old
}
