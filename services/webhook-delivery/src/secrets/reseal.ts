import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { WORKER_DATABASE, workerServer } from '@backoffice/postgres/database-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { raiseVersion } from '@backoffice/postgres/versioned-cache.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
import { openSecret, type SealedSecret, type SecretKeys, sealSecret } from '@backoffice/secrets/secret-box.ts'
import { NIL } from 'uuid'
import { z } from 'zod'
import { missingKeys, SECRET_KEYS } from './secret-keys.ts'
import { secretOwner } from './signing-secret.ts'

const BATCH_SIZE = 200

/**
 * Seals again what another key has sealed. What changes meanwhile is left; an interrupted run is repeated. `left` are
 * sealed with another key than the first: they do not open, or another process has sealed them meanwhile.
 */
export async function resealSecrets(sql: Sql, keys: SecretKeys): Promise<{ resealed: number; left: number }> {
  // In this order, because a rotation moves secrets from the first table to the second.
  const current = await resealAll(sql, keys, 'endpoint', 'id')
  const previous = await resealAll(sql, keys, 'previous_secret', 'endpoint_id')
  const [{ left }] = await sql<[{ left: number }]>`
    select count(*) as left from (
      select secret_key_id from endpoint union all select secret_key_id from previous_secret
    ) as stored
    where secret_key_id <> ${firstOf(keys)}`
  return { resealed: current + previous, left }
}

const firstOf = (keys: SecretKeys): string => [...keys.keys()][0] ?? ''

interface StoredSecret extends SealedSecret {
  readonly workspaceId: string
  readonly endpointId: string
  readonly id: string
}

/** Seals the secrets of a table again; `endpointId` is its column with the endpoint's id. */
async function resealAll(sql: Sql, keys: SecretKeys, table: string, endpointId: string): Promise<number> {
  let resealed = 0
  let after: Pick<StoredSecret, 'workspaceId' | 'id'> = { workspaceId: NIL, id: NIL }
  for (;;) {
    const batch = await sql<StoredSecret[]>`
      select workspace_id as "workspaceId", ${sql(endpointId)} as "endpointId", id,
        secret_key_id as "keyId", sealed_secret as sealed
      from ${sql(table)}
      where (workspace_id, id) > (${after.workspaceId}, ${after.id}) and secret_key_id <> ${firstOf(keys)}
      order by workspace_id, id limit ${BATCH_SIZE}`
    const last = batch.at(-1)
    if (last === undefined) return resealed
    resealed += await replaceUnchanged(sql, table, batch.flatMap(resealedWith(keys)))
    after = last
  }
}

/** A secret sealed again with the bytes that it replaces; empty for a secret that does not open. */
const resealedWith = (keys: SecretKeys) => (stored: StoredSecret) => {
  const owner = secretOwner(stored.workspaceId, stored.endpointId)
  let secret: Buffer
  try {
    secret = openSecret(keys, stored, owner)
  } catch {
    return []
  }
  const { keyId, sealed } = sealSecret(keys, secret, owner)
  const { workspaceId, id } = stored
  return [{ workspaceId, id, keyId, former: stored.sealed.toString('base64'), sealed: sealed.toString('base64') }]
}

/**
 * Replaces secrets that are as they were read and returns their number. Locks in one order against deadlocks. Processes
 * read the endpoints again: one without the former key could not open them.
 */
const replaceUnchanged = (
  sql: Sql,
  table: string,
  replacements: ReturnType<ReturnType<typeof resealedWith>>,
): Promise<number> =>
  inTransaction(sql, async (tx) => {
    const replaced = await tx<{ workspaceId: string }[]>`
      with resealed as (
        select "workspaceId" as workspace_id, id, "keyId" as key_id,
          decode(former, 'base64') as former, decode(sealed, 'base64') as sealed
        from json_to_recordset(${JSON.stringify(replacements)}::text::json)
          as resealed ("workspaceId" uuid, id uuid, "keyId" text, former text, sealed text)
      ), unchanged as materialized (
        select stored.workspace_id, stored.id, resealed.key_id, resealed.sealed
        from ${tx(table)} as stored join resealed using (workspace_id, id)
        where stored.sealed_secret = resealed.former
        order by stored.workspace_id, stored.id for no key update of stored
      )
      update ${tx(table)} as stored set secret_key_id = unchanged.key_id, sealed_secret = unchanged.sealed
      from unchanged where stored.workspace_id = unchanged.workspace_id and stored.id = unchanged.id
      returning stored.workspace_id as "workspaceId"`
    await raiseVersion(tx, 'endpoint_set', ...replaced.map(({ workspaceId }) => workspaceId))
    return replaced.length
  })

/** `npm run reseal -w services/webhook-delivery`: exits with 1 while another key than the first seals a secret. */
const ResealConfig = z.object({ ...WORKER_DATABASE, ...SECRET_KEYS })

async function reseal(): Promise<number> {
  const config = readConfig(ResealConfig)
  const [server, keys] = [workerServer(config), config.WEBHOOK_SECRET_KEYS]
  await refuseWrongDatabase(server, 'WORKER_DATABASE_URL')
  const db = openDatabase({ ...server, applicationName: 'webhook-delivery reseal', poolSize: 1 })
  try {
    const missing = await missingKeys(db.sql, keys)
    if (missing !== undefined) throw missing
    const { resealed, left } = await resealSecrets(db.sql, keys)
    console.log(`secrets resealed: ${resealed}, left under another key: ${left}`)
    return left === 0 ? 0 : 1
  } finally {
    await db.stop?.()
  }
}

if (import.meta.main) await runCommand(reseal, 1)
