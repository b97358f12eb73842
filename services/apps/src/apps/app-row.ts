import type { App } from '@backoffice/contracts/app.ts'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { type ApiError, notFound } from '@backoffice/contracts/errors.ts'

/** A row of `app`. */
export interface AppRow {
  readonly id: string
  /** The sandbox whose draft it is (OP-286); null for an app of the platform. */
  readonly sandbox_id: string | null
  readonly provider: string
  readonly origin: string
  readonly manifest: AppManifest
  readonly version: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly suspended_at: Date | null
  readonly suspension_reason: string | null
  /** The last suspension, resumption or deletion. */
  readonly suspension_changed_at: Date | null
  readonly deleted_at: Date | null
  /** Null when every installation has what the app's latest change brings. */
  readonly swept_to: string | null
}

export const appBody = ({ id, provider, origin, manifest, version, ...row }: AppRow): App => ({
  id,
  provider,
  name: nameOf(manifest),
  origin,
  audience: audienceOf(manifest),
  scopes: manifest.scopes,
  embed: manifest.embed,
  webhooks: manifest.webhooks ?? null,
  checkout: manifest.checkout ?? null,
  version,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** The name that merchants see (OP-80). */
export const nameOf = ({ name, provider }: AppManifest): string => name ?? provider

/** The `aud` of tokens for the app (OP-80). */
export const audienceOf = ({ audience, provider }: AppManifest): string => audience ?? provider

export const noSuchApp = (id: string): ApiError => notFound(['id'], `there is no app ${id}`)
