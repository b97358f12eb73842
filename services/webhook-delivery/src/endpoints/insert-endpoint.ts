import type { Transaction } from '@backoffice/postgres/database.ts'
import type { SealedSecret } from '@backoffice/secrets/secret-box.ts'
import type { EndpointRow } from './endpoint.ts'

/** Inserts an endpoint and returns true. If the workspace has one with this id, it changes nothing and returns false. */
export async function insertEndpoint(
  tx: Transaction,
  row: EndpointRow,
  { keyId, sealed }: SealedSecret,
): Promise<boolean> {
  const { workspaceId } = tx.context
  const { count } = await tx`
    insert into endpoint (
      workspace_id, id, url, enabled_events, description, standard_signature, secret_key_id, sealed_secret,
      created_at, updated_at
    ) values (
      ${workspaceId}, ${row.id}, ${row.url}, ${row.enabled_events}, ${row.description}, ${row.standard_signature},
      ${keyId}, ${sealed}, ${row.created_at}, ${row.updated_at}
    )
    on conflict (workspace_id, id) do nothing`
  return count > 0
}
