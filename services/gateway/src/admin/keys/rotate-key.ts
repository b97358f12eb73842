import { Installation } from '@backoffice/contracts/app.ts'
import { ApiError, conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { accepted, created } from '@backoffice/http/reply.ts'
import type { Sql, Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import { type Act, adminOperation } from '../admin-operation.ts'
import { ownWorkspace } from '../workspaces/workspace.ts'
import { IssuedKey, issueKey, type KeyTerms } from './key.ts'
import { keyHasLeft, workspaceOfKey } from './revoke-key.ts'

const MAX_OVERLAP_S = 86_400

export const RotateKeyBody = z
  .strictObject({ overlap_seconds: z.int().min(0).max(MAX_OVERLAP_S).default(0) })
  .prefault({})

/**
 * POST /admin/v1/keys/{id}/rotate (OP-05, OP-86): creates a key with the same name, scopes and expiry, and revokes the
 * old one at once or after `overlap_seconds`. An app gets a new key by a provision, and the old one works until the app
 * has acknowledged it (OP-227). Throws `conflict` for a key that is revoked, has been rotated, has expired or is not
 * activated yet.
 */
export const rotateKey = adminOperation({
  method: 'POST',
  path: '/admin/v1/keys/{id}/rotate',
  summary: 'Replace an API key by a new one',
  body: RotateKeyBody,
  responses: { 201: IssuedKey, 202: Installation },

  async handle({ params, body, worker, act, askApps, format }) {
    const app = await appOfKey(worker, params.id)
    if (app !== undefined) {
      if (body.overlap_seconds > 0) throw unprocessable(['overlap_seconds'], OWN_OVERLAP)
      const { appKeyId: key, ...workspace } = app
      const path = '/internal/provisions'
      return accepted(await askApps({ method: 'POST', path, answer: Installation, workspace, body: { key } }))
    }
    const workspaceId = await workspaceOfKey(worker, params.id)
    const id = newId()
    const acts: Act[] = [
      { action: 'key.rotated', target: `keys/${params.id}` },
      { action: 'key.created', target: `keys/${id}` },
    ]
    return act(workspaceId, acts, async (tx) => {
      const { livemode } = await workspaceWith(tx, params.id)
      const terms = await retireKey(tx, params.id, body.overlap_seconds)
      return created(await issueKey(tx, format, { id, livemode }, terms))
    })
  },
})

const OWN_OVERLAP = "must be 0 for an app's key, which works until the app has acknowledged the new one"

/** The workspace and the first key of an app's key that is in force; undefined for any other key. */
async function appOfKey(worker: Sql, id: string) {
  const [found] = await worker<{ id: string; livemode: boolean; appKeyId: string }[]>`
    select workspace.id, livemode, app_key_id as "appKeyId"
    from api_key join workspace on workspace.id = api_key.workspace_id
    where api_key.id = ${id} and app_key_id is not null and activated_at is not null and revoked_at is null
      and deleted_at is null`
  return found
}

/** The transaction's workspace. Throws `service_unavailable` when it is deleted and a reset has moved the key. */
async function workspaceWith(tx: Transaction, id: string) {
  try {
    return await ownWorkspace(tx)
  } catch (error) {
    // After an error of PostgreSQL the transaction takes no other statement.
    if (!(error instanceof ApiError)) throw error
    const { count } = await tx`select from api_key where workspace_id = ${tx.context.workspaceId} and id = ${id}`
    throw count === 0 ? keyHasLeft() : error
  }
}

/** The row's lock lets one of several simultaneous rotations through. */
async function retireKey(tx: Transaction, id: string, overlapSeconds: number): Promise<KeyTerms> {
  const [old] = await tx<KeyTerms[]>`
    update api_key set revoked_at = clock_timestamp() + make_interval(secs => ${overlapSeconds})
    where workspace_id = ${tx.context.workspaceId} and id = ${id} and app_key_id is null and revoked_at is null
      and activated_at is not null and (expires_at is null or expires_at > clock_timestamp())
    returning name, scopes, expires_at as "expiresAt"`
  if (old !== undefined) return old
  const next = await successorOf(tx, id)
  const message =
    next === undefined
      ? `API key ${id} has been rotated or revoked already, has expired, or is not activated yet`
      : `API key ${id} has been rotated; if the text of the new key was lost, rotate ${next}`
  throw conflict([], message)
}

/** The key that a rotation has made, by the audit log of the workspace. */
async function successorOf(tx: Transaction, id: string): Promise<string | undefined> {
  const [made] = await tx<{ target: string }[]>`
    select made.target from audit as rotated join audit as made using (workspace_id, request_id, at)
    where workspace_id = ${tx.context.workspaceId} and rotated.target = ${`keys/${id}`}
      and rotated.action = 'key.rotated' and made.action = 'key.created'`
  return made?.target.slice('keys/'.length)
}
