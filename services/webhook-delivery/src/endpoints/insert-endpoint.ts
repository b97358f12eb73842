import type { Transaction } from '@backoffice/postgres/database.ts'
import type { SealedSecret } from '@backoffice/secrets/secret-box.ts'
import type { EndpointRow } from './endpoint.ts'

/** Inserts an endpoint, whose id is new. */
export async function insertEndpoint(
  tx: Transaction,
  row: EndpointRow,
  { keyId, sealed }: SealedSecret,
): Promise<void> {
  const { workspaceId } = tx.context
  await tx`
    insert into endpoint (
      workspace_id, id, url, enabled_events, description, standard_signature, secret_key_id, sealed_secret,
      created_at, updated_at
    ) values (
      ${workspaceId}, ${row.id}, ${row.url}, ${row.enabled_events}, ${row.description}, ${row.standard_signature},
      ${keyId}, ${sealed}, ${row.created_at}, ${row.updated_at}
    )`
}
