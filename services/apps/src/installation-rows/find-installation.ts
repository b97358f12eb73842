import { PLATFORM } from '@backoffice/contracts/app.ts'
import type { ListQuery } from '@backoffice/contracts/pagination.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { type InstallationRow, noSuchInstallation } from './installation-row.ts'

/** The pools: `db` acts inside one workspace, `worker` reads across workspaces. */
export interface Databases {
  readonly db: Database
  readonly worker: Database
}

/**
 * Runs `work` in the workspace of an installation. An operator names an installation by its id alone; any other caller
 * has those of its own workspace only. Throws `not_found`.
 */
export async function inWorkspaceOf<Result>(
  { db, worker }: Databases,
  { workspaceId, traceparent, keyId: actor }: RequestContext,
  id: string,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const [found] = await worker.sql<{ workspaceId: string; livemode: boolean }[]>`
    select workspace_id as "workspaceId", livemode from installation where id = ${id}`
  const isAllowed = workspaceId === PLATFORM || workspaceId === found?.workspaceId
  if (found === undefined || !isAllowed) throw noSuchInstallation(id)
  return db.inWorkspace({ ...found, traceparent, actor }, work)
}

const columns = (tx: Transaction) => tx`installation.*, app.origin, app.manifest as app_manifest`
const source = (tx: Transaction, condition: SqlPart) => tx`
  from installation join app on app.id = installation.app_id
  where installation.workspace_id = ${tx.context.workspaceId} and ${condition}`

/** The installations of the transaction's workspace that meet a condition. */
export const findInstallations = (tx: Transaction, condition: SqlPart) =>
  tx<InstallationRow[]>`select ${columns(tx)} ${source(tx, condition)}`

/** A page of them, newest first. */
export const pageOfInstallations = (tx: Transaction, query: ListQuery, condition: SqlPart) =>
  countedPage<InstallationRow>(tx, query, {
    columns: columns(tx),
    source: source(tx, condition),
    by: ['installation.id'],
  })

/** An installation of the transaction's workspace. Throws `not_found`. */
export async function findInstallation(tx: Transaction, id: string): Promise<InstallationRow> {
  const [row] = await findInstallations(tx, tx`installation.id = ${id}`)
  if (row === undefined) throw noSuchInstallation(id)
  return row
}

/** As `findInstallation`; locks the installation for the rest of the transaction. */
export async function lockInstallation(tx: Transaction, id: string): Promise<InstallationRow> {
  await tx`
    select from installation where workspace_id = ${tx.context.workspaceId} and id = ${id} for no key update`
  return findInstallation(tx, id)
}
