import { conflict } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { SealedSecret } from '@backoffice/secrets/secret-box.ts'
import { ENDPOINT, type EndpointRecord, endpointRow, endpointsChanged } from './endpoint.ts'

/** Inserts an endpoint, whose id is new. Throws `conflict` when the workspace has `most` endpoints already (OP-121). */
export async function insertEndpoint(
  tx: Transaction,
  endpoint: EndpointRecord,
  { keyId, sealed }: SealedSecret,
  most: number,
): Promise<void> {
  const { workspaceId } = tx.context
  // The change locks the workspace's row, so whoever creates another endpoint meanwhile counts this one.
  const changed = endpointsChanged(tx)
  const inserting = tx`
    insert into endpoint (workspace_id, secret_key_id, sealed_secret, ${tx.unsafe(ENDPOINT.sql.columns)})
    select ${workspaceId}, ${keyId}::text, ${sealed}::bytea, ${tx.unsafe(ENDPOINT.sql.members)} from ${endpointRow(tx, endpoint)}
    where (select count(*) from endpoint where workspace_id = ${workspaceId}) < ${most}`
  const [, { count }] = await Promise.all([changed, inserting])
  if (count === 0) {
    throw conflict([], `this workspace has ${most} webhook endpoints, and may have no more; delete one first`)
  }
}
