import type { Sql } from '@backoffice/postgres/database.ts'
import { openSecret, type SealedSecret, type SecretKeys, sealSecret } from './secret-box.ts'
import { secretOwner } from './signing-secret.ts'

/** Secrets read and written at once. */
const AT_ONCE = 200
const NIL = '00000000-0000-0000-0000-000000000000'

/** What a run did, in numbers of secrets. */
export interface Resealed {
  readonly resealed: number
  /** Still sealed with another key than the first: they do not open, or were sealed meanwhile by a process with other keys. */
  readonly left: number
}

/**
 * Seals every secret anew with the first key that is sealed with another one. Secrets may be rotated meanwhile: one that is
 * no longer what was read is left as it is. Each batch stands by itself, so a run that broke off is simply run again.
 */
export async function resealSecrets(sql: Sql, keys: SecretKeys): Promise<Resealed> {
  // In this order: a rotation moves secrets from the first to the second.
  const current = await resealAll(sql, keys, { table: 'endpoint', endpointId: 'id' })
  const previous = await resealAll(sql, keys, { table: 'previous_secret', endpointId: 'endpoint_id' })
  return { resealed: current + previous, left: await countLeft(sql, firstOf(keys)) }
}

const firstOf = (keys: SecretKeys): string => [...keys.keys()][0] ?? ''

async function countLeft(sql: Sql, keyId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from (
      select secret_key_id from endpoint union all select secret_key_id from previous_secret
    ) as stored
    where secret_key_id <> ${keyId}`
  return row?.count ?? 0
}

/** A table with secrets, and its column that names their endpoint. */
interface Place {
  readonly table: string
  readonly endpointId: string
}

interface StoredSecret extends SealedSecret {
  readonly workspaceId: string
  readonly endpointId: string
  readonly id: string
}

async function resealAll(sql: Sql, keys: SecretKeys, place: Place): Promise<number> {
  let resealed = 0
  let after = { workspaceId: NIL, id: NIL }
  for (;;) {
    const batch = await sql<StoredSecret[]>`
      select workspace_id as "workspaceId", ${sql(place.endpointId)} as "endpointId", id,
        secret_key_id as "keyId", sealed_secret as sealed
      from ${sql(place.table)}
      where (workspace_id, id) > (${after.workspaceId}, ${after.id}) and secret_key_id <> ${firstOf(keys)}
      order by workspace_id, id limit ${AT_ONCE}`
    const last = batch.at(-1)
    if (last === undefined) return resealed
    resealed += await replaceUnchanged(sql, place, batch.flatMap(resealedWith(keys)))
    after = last
  }
}

/** A secret sealed anew, and what it replaces; nothing for one that does not open. */
const resealedWith = (keys: SecretKeys) => (stored: StoredSecret) => {
  const owner = secretOwner(stored.workspaceId, stored.endpointId)
  const secret = openedOrNot(keys, stored, owner)
  if (secret === undefined) return []
  const { keyId, sealed } = sealSecret(keys, secret, owner)
  const { workspaceId, id } = stored
  return [{ workspaceId, id, keyId, former: stored.sealed.toString('base64'), sealed: sealed.toString('base64') }]
}

function openedOrNot(keys: SecretKeys, stored: StoredSecret, owner: string): Buffer | undefined {
  try {
    return openSecret(keys, stored, owner)
  } catch {
    return undefined
  }
}

/** Locks in one order, so that two runs at once do not wait for each other. Returns how many were still what was read. */
async function replaceUnchanged(
  sql: Sql,
  { table }: Place,
  replacements: ReturnType<ReturnType<typeof resealedWith>>,
): Promise<number> {
  const { count } = await sql`
    with resealed as (
      select "workspaceId" as workspace_id, id, "keyId" as key_id,
        decode(former, 'base64') as former, decode(sealed, 'base64') as sealed
      from json_to_recordset(${JSON.stringify(replacements)}::text::json)
        as resealed ("workspaceId" uuid, id uuid, "keyId" text, former text, sealed text)
    ), unchanged as materialized (
      select stored.workspace_id, stored.id, resealed.key_id, resealed.sealed
      from ${sql(table)} as stored join resealed using (workspace_id, id)
      where stored.sealed_secret = resealed.former
      order by stored.workspace_id, stored.id for no key update of stored
    )
    update ${sql(table)} as stored set secret_key_id = unchanged.key_id, sealed_secret = unchanged.sealed
    from unchanged where stored.workspace_id = unchanged.workspace_id and stored.id = unchanged.id`
  return count
}
