import type { Installation, InstalledApp } from '@backoffice/contracts/app.ts'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { type ApiError, notFound } from '@backoffice/contracts/errors.ts'
import { nameOf } from '../apps/app-row.ts'

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
  const { id, provider, name, state, scopes, requested_scopes, embed, created_at, activated_at } = installationBody(row)
  const webhooks = (row.manifest ?? row.requested_manifest)?.webhooks ?? null
  const checkout = row.app_manifest.checkout ?? null
  return { id, provider, name, state, scopes, requested_scopes, embed, webhooks, checkout, created_at, activated_at }
}

/** The scopes that the merchant consented to. */
export const scopesOf = ({ manifest }: Pick<InstallationRow, 'manifest'>): string[] => manifest?.scopes ?? []

export const noSuchInstallation = (id: string): ApiError => notFound(['id'], `there is no installation ${id}`)
