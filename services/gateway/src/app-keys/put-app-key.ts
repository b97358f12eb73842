import { conflict } from '@backoffice/contracts/errors.ts'
import { Id, Name } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { recordActs } from '../admin/admin-operation.ts'
import { NewScopes } from '../keys/issue-key.ts'
import { hashOf, KeySecret, newKey } from '../keys/key-format.ts'
import { ownWorkspace } from '../workspaces/find-workspace.ts'

/**
 * PUT /internal/app-keys/{id}: creates a key of kind `app`, which works once it is activated (spec: Authentication 5). A repetition
 * with the same secret and scopes gets the same key and keeps its name; other ones are `conflict`.
 */
export const putAppKey = operation({
  method: 'PUT',
  path: '/internal/app-keys/{id}',
  summary: 'Create the API key of an installed app',
  scope: 'internal',
  params: z.strictObject({ id: Id }),
  body: z.strictObject({ secret: KeySecret, name: Name, scopes: NewScopes }),
  responses: { 200: z.strictObject({ key: z.string() }) },
  openPoints: ['OP-04', 'OP-05'],

  handle({ params: { id }, body: { secret, name, scopes }, context: { requestId }, now, inWorkspace }) {
    return inWorkspace(async (tx) => {
      const { livemode } = await ownWorkspace(tx)
      const key = newKey(id, livemode, secret)
      const wanted = { id, hash: Buffer.from(hashOf(key), 'hex'), name, scopes }
      if (await insertKey(tx, wanted, now)) {
        await recordActs(tx, [{ action: 'key.created', target: `keys/${id}` }], {
          actor: 'apps',
          requestId,
          at: now,
        })
      } else await refuseOther(tx, wanted)
      return ok({ key })
    })
  },
})

interface AppKey {
  readonly id: string
  readonly hash: Buffer
  readonly name: string
  readonly scopes: string[]
}

/** Returns whether the id was new. */
async function insertKey(tx: Transaction, { id, hash, name, scopes }: AppKey, now: Date): Promise<boolean> {
  const { count } = await tx`
    insert into api_key (workspace_id, id, app_key_id, kind, key_hash, name, scopes, created_at, activated_at)
    values (${tx.context.workspaceId}, ${id}, ${id}, 'app', ${hash}, ${name}, ${scopes}, ${now}, null)
    on conflict do nothing`
  return count > 0
}

/** Throws `conflict` unless the id has the key that is wanted, and it is not revoked. */
async function refuseOther(tx: Transaction, { id, hash, scopes }: AppKey): Promise<void> {
  const [present] = await tx<{ isSame: boolean; isRevoked: boolean }[]>`
    select key_hash = ${hash} and scopes @> ${scopes} and scopes <@ ${scopes} as "isSame", revoked_at is not null as "isRevoked"
    from api_key where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  if (!present?.isSame) throw conflict(['id'], 'belongs to a key with another secret or other scopes; send another id')
  if (present.isRevoked) throw conflict(['id'], 'belongs to a revoked key; send another id')
}
