import type { Transaction } from '@backoffice/postgres/database.ts'
import { type EndpointRow, endpointColumns } from './endpoint.ts'
import { noSuchEndpoint } from './get-endpoint.ts'

/** Locks an endpoint for the rest of the transaction and returns it as it is then. Throws `not_found`. */
export async function lockEndpoint(tx: Transaction, id: string): Promise<EndpointRow> {
  const [row] = await tx<EndpointRow[]>`
    select ${endpointColumns(tx)}
    from endpoint where workspace_id = ${tx.context.workspaceId} and id = ${id} for no key update`
  if (row === undefined) throw noSuchEndpoint(id)
  return row
}
