import { conflict } from '@backoffice/contracts/errors.ts'
import { Name } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { APPS_ACTOR, recordActs } from '../admin/admin-operation.ts'
import { NewScopes } from '../admin/keys/key.ts'
import { ownWorkspace } from '../admin/workspaces/workspace.ts'
import { type KeyFormat, KeySecret } from '../credentials/keys/key-format.ts'
import { hashOf } from '../credentials/secret-text.ts'

/**
 * PUT /internal/app-keys/{id}: creates a key of kind `app`, which works once it is activated (spec: Authentication 5).
 * A repetition with the same secret and scopes (OP-04) gets the same key and keeps its name; other ones are `conflict`.
 * The key stays the same when the check keys change meanwhile (OP-05).
 */
export const putAppKey = (format: KeyFormat) =>
  operation({
    method: 'PUT',
    path: '/internal/app-keys/{id}',
    scope: 'internal',
    body: z.strictObject({ secret: KeySecret, name: Name, scopes: NewScopes }),
    responses: { 200: z.strictObject({ key: z.string() }) },

    handle({ params: { id }, body: { secret, name, scopes }, context: { requestId }, now, inWorkspace }) {
      return inWorkspace(async (tx) => {
        const { livemode } = await ownWorkspace(tx)
        const texts = format.textsOf(id, livemode, secret)
        const wanted = { id, key: texts[0], name, scopes }
        if (!(await insertKey(tx, wanted, now))) return ok({ key: await presentKey(tx, wanted, texts) })
        const acts = [{ action: 'key.created', target: `keys/${id}` } as const]
        await recordActs(tx, tx.context.workspaceId, acts, { ...APPS_ACTOR, requestId, at: now })
        return ok({ key: texts[0] })
      })
    },
  })

interface AppKey {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly scopes: string[]
}

const storedHash = (key: string): Buffer => Buffer.from(hashOf(key), 'hex')

/** Returns whether the id was new. */
async function insertKey(tx: Transaction, { id, key, name, scopes }: AppKey, now: Date): Promise<boolean> {
  const { count } = await tx`
    insert into api_key (workspace_id, id, app_key_id, kind, key_hash, name, scopes, created_at, activated_at)
    values (${tx.context.workspaceId}, ${id}, ${id}, 'app', ${storedHash(key)}, ${name}, ${scopes}, ${now}, null)
    on conflict do nothing`
  return count > 0
}

/** The key that the id has: one of `texts`. Throws `conflict` when it is another, has other scopes or is revoked. */
async function presentKey(tx: Transaction, { id, scopes }: AppKey, texts: readonly string[]): Promise<string> {
  const [present] = await tx<{ hash: Buffer; hasScopes: boolean; isRevoked: boolean }[]>`
    select key_hash as hash, scopes @> ${scopes} and scopes <@ ${scopes} as "hasScopes", revoked_at is not null as "isRevoked"
    from api_key where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  const key = texts.find((text) => present?.hash.equals(storedHash(text)))
  if (key === undefined || !present?.hasScopes) {
    throw conflict(['id'], 'belongs to a key with another secret or other scopes; send another id', 'name_taken')
  }
  if (present.isRevoked) throw conflict(['id'], 'belongs to a revoked key; send another id')
  return key
}
