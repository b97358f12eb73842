import { type Installation, type InstalledApp, PLATFORM } from '@backoffice/contracts/app.ts'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { type ApiError, notFound } from '@backoffice/contracts/errors.ts'
import type { ListQuery } from '@backoffice/contracts/pagination.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import { answerWithin } from '@backoffice/postgres/answer-within.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql, Database, Transaction } from '@backoffice/postgres/database.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { nameOf } from './app-row.ts'

/** A row of `installation`, with what its app's row says now. */
export interface InstallationRow extends Pick<Installation, 'id' | 'livemode' | 'state' | 'last_error' | 'origin'> {
  readonly workspace_id: string
  readonly app_id: string
  readonly workspace_name: string
  readonly workspace_domain: string | null
  /** As the merchant consented to it. */
  readonly manifest: AppManifest | null
  /** Waits for the merchant's consent. */
  readonly requested_manifest: AppManifest | null
  readonly key_id: string | null
  readonly endpoint_id: string | null
  readonly created_at: Date
  readonly consented_at: Date | null
  readonly activated_at: Date | null
  readonly uninstalled_at: Date | null
  readonly app_suspended_at: Date | null
  /** Where the app was before. */
  readonly former_origins: string[]
  /** The app's newest manifest: its embed, checkout, name and audience are in force. */
  readonly app_manifest: AppManifest
}

export const installationBody = (row: InstallationRow): Installation => ({
  id: row.id,
  provider: row.app_manifest.provider,
  name: nameOf(row.app_manifest),
  origin: row.origin,
  embed: row.app_manifest.embed,
  workspace: row.workspace_id,
  livemode: row.livemode,
  state: row.state,
  scopes: scopesOf(row),
  requested_scopes: row.requested_manifest?.scopes ?? [],
  webhooks: (row.requested_manifest ?? row.manifest)?.webhooks ?? null,
  checkout: row.app_manifest.checkout ?? null,
  last_error: row.last_error,
  created_at: row.created_at.toISOString(),
  consented_at: row.consented_at?.toISOString() ?? null,
  activated_at: row.activated_at?.toISOString() ?? null,
  uninstalled_at: row.uninstalled_at?.toISOString() ?? null,
})

export const installedAppBody = (row: InstallationRow): InstalledApp => {
  const { id, provider, name, state, scopes, requested_scopes, embed, checkout, ...shown } = installationBody(row)
  const webhooks = (row.manifest ?? row.requested_manifest)?.webhooks ?? null
  const { last_error, created_at, activated_at } = shown
  return {
    ...{ id, provider, name, state, scopes, requested_scopes, embed, webhooks, checkout },
    ...{ last_error, created_at, activated_at },
  }
}

/** The scopes that the merchant consented to. */
export const scopesOf = ({ manifest }: Pick<InstallationRow, 'manifest'>): string[] => manifest?.scopes ?? []

export const noSuchInstallation = (id: string): ApiError => notFound(['id'], `there is no installation ${id}`)

/** The longest wait for the workspace of an installation, in milliseconds. */
const FOUND_WITHIN_MS = 5000

/** The pools: `db` acts inside one workspace, `worker` reads across workspaces. */
export interface Databases {
  readonly db: Database
  readonly worker: Database
}

/**
 * Runs `work` in the workspace of an installation. An operator names an installation by its id alone; any other caller
 * has those of its own workspace only. Throws `not_found`, also where the workspace is deleted (OP-243).
 */
export async function inWorkspaceOf<Result>(
  { db, worker }: Databases,
  { workspaceId, traceparent, keyId: actor }: RequestContext,
  id: string,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const installation = worker.sql<{ workspaceId: string; livemode: boolean }[]>`
    select workspace_id as "workspaceId", livemode from installation
    where id = ${id} and not exists (
      select from deleted_workspace where deleted_workspace.workspace_id = installation.workspace_id
    )`
  const [found] = await answerWithin(FOUND_WITHIN_MS, installation)
  const isAllowed = workspaceId === PLATFORM || workspaceId === found?.workspaceId
  if (found === undefined || !isAllowed) throw noSuchInstallation(id)
  return db.inWorkspace({ ...found, traceparent, actor }, work)
}

/** The columns of an InstallationRow, from `installation join app`. */
export const installationColumns = (tx: AnySql) => tx`
  installation.*, app.origin, app.former_origins, app.manifest as app_manifest, app.suspended_at as app_suspended_at`
const source = (tx: Transaction, condition: SqlPart) => tx`
  from installation join app on app.id = installation.app_id
  where installation.workspace_id = ${tx.context.workspaceId} and ${condition}`

/** The installations of the transaction's workspace that meet a condition. */
export const findInstallations = (tx: Transaction, condition: SqlPart) =>
  tx<InstallationRow[]>`select ${installationColumns(tx)} ${source(tx, condition)}`

/** A page of them, newest first. */
export const pageOfInstallations = (tx: Transaction, query: ListQuery, condition: SqlPart) =>
  countedPage<InstallationRow>(tx, query, {
    columns: installationColumns(tx),
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
