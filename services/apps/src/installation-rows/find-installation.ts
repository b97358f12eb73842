import { PLATFORM } from '@backoffice/contracts/app-records.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { Database, Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import {
  type InstallationRow,
  installationColumns,
  installationsOfApps,
  noSuchInstallation,
} from './installation-row.ts'

/** The pools: `db` acts inside one workspace, `worker` reads across workspaces. */
export interface Databases {
  readonly db: Database
  readonly worker: Database
}

/**
 * The context of an installation's workspace. An operator names an installation by its id alone; any other caller has those of its own
 * workspace only. Throws `not_found`.
 */
export async function contextOf({ worker }: Databases, context: RequestContext, id: string): Promise<WorkspaceContext> {
  const [found] = await worker.sql<{ workspace_id: string; livemode: boolean }[]>`
    select workspace_id, livemode from installation where id = ${id}`
  const isAllowed = context.workspaceId === PLATFORM || context.workspaceId === found?.workspace_id
  if (found === undefined || !isAllowed) throw noSuchInstallation(id)
  const { traceparent, keyId } = context
  return { workspaceId: found.workspace_id, livemode: found.livemode, traceparent, actor: keyId }
}

/** An installation of the transaction's workspace. Throws `not_found`. */
export async function findInstallation(tx: Transaction, id: string): Promise<InstallationRow> {
  const [row] = await tx<InstallationRow[]>`
    select ${installationColumns(tx)} ${installationsOfApps(tx)}
    where installation.workspace_id = ${tx.context.workspaceId} and installation.id = ${id}`
  if (row === undefined) throw noSuchInstallation(id)
  return row
}

/** As `findInstallation`; locks the installation for the rest of the transaction. */
export async function lockInstallation(tx: Transaction, id: string): Promise<InstallationRow> {
  await tx`
    select from installation where workspace_id = ${tx.context.workspaceId} and id = ${id} for no key update`
  return findInstallation(tx, id)
}
