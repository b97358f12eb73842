import type { AppDraft } from '@backoffice/contracts/app.ts'
import { type AppManifest, NewAppManifest } from '@backoffice/contracts/app-manifest.ts'
import { ApiError, notFound } from '@backoffice/contracts/errors.ts'
import { named } from '@backoffice/contracts/named.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { type AppRow, appBody } from '../apps/app-row.ts'

/** A row of `app` that is a draft, with its last installation. */
export interface DraftRow extends AppRow {
  readonly installation: AppDraft['installation']
}

export const draftBody = ({ installation, ...row }: DraftRow): AppDraft => ({ ...appBody(row), installation })

const PREFIX_LENGTH = 'draft-'.length + 12 + '-'.length

const DraftProvider = NewAppManifest.shape.provider.max(64 - PREFIX_LENGTH)
const WithProvider = z.object({ manifest: z.object({ provider: DraftProvider }) })

/** The manifest of a draft: that of a new app. */
export const DraftManifest = named('AppManifest', NewAppManifest, {
  provider: 'acme-pay',
  name: 'Acme Pay',
  scopes: ['sale::read', 'sale::create'],
  embed: '/embed',
  webhooks: { path: '/webhooks', events: ['order.paid'] },
  checkout: { path: '/checkout' },
})

/** What the names of a sandbox's drafts begin with. */
export const draftPrefix = (liveWorkspace: string): string => `draft-${liveWorkspace.slice(-12)}-`

/** That of a draft which is there. */
export const prefixOf = ({ provider }: DraftRow): string => provider.slice(0, PREFIX_LENGTH)

/**
 * A manifest as a draft has it: tokens for the draft are none for an app with the names that were sent. Names with the
 * prefix stay, as a draft is answered. Throws `bad_request` for a provider that is none of a new app, or too long.
 */
export function manifestOfDraft(prefix: string, { provider, audience, ...manifest }: AppManifest): AppManifest {
  const name = withoutPrefix(prefix, provider)
  validate(WithProvider, { manifest: { provider: name } }, 'body')
  return {
    name,
    ...manifest,
    provider: prefix + name,
    ...(audience !== undefined && { audience: prefix + withoutPrefix(prefix, audience) }),
  }
}

const withoutPrefix = (prefix: string, name: string): string =>
  name.startsWith(prefix) ? name.slice(prefix.length) : name

export const draftColumns = (tx: Transaction) => tx`
  app.*, (
    select json_build_object(
      'id', installation.id, 'state', state, 'last_error', last_error,
      'scopes', coalesce(installation.manifest -> 'scopes', '[]')
    )
    from installation
    where installation.workspace_id = app.sandbox_id and app_id = app.id
    order by installation.id desc limit 1
  ) as installation`

/** A draft of the transaction's workspace. Throws `not_found`, also for an app of the platform. */
export async function findDraft(tx: Transaction, id: string): Promise<DraftRow> {
  const [draft] = await tx<DraftRow[]>`
    select ${draftColumns(tx)} from app
    where sandbox_id = ${tx.context.workspaceId} and id = ${id} and deleted_at is null`
  if (draft === undefined) throw notFound(['id'], `this sandbox has no draft ${id}`)
  return draft
}

/** As `findDraft`; locks the draft for the rest of the transaction. */
export async function lockDraft(tx: Transaction, id: string): Promise<DraftRow> {
  await tx`select from app where sandbox_id = ${tx.context.workspaceId} and id = ${id} for no key update`
  return findDraft(tx, id)
}

/** Throws `insufficient_scope` for the key of an app: an app that is uninstalled leaves no other one behind. */
export function refuseApps({ appKeyId }: Pick<RequestContext, 'appKeyId'>): void {
  if (appKeyId == null) return
  const message = "An app's key changes and installs no drafts; use a key of the sandbox itself"
  throw new ApiError('insufficient_scope', message, { errorReason: 'not_own_resource' })
}

/**
 * Throws `insufficient_scope` when an app with this manifest would get more than the key that acts: a scope that it
 * lacks, or events, which are for whoever may make a webhook endpoint.
 */
export function refuseBeyond({ scopes, webhooks }: AppManifest, grants: readonly string[]): void {
  const asked = webhooks === undefined ? scopes : [...scopes, 'webhook::create']
  const covers = (scope: string) => ['*', scope, scope.split('::')[0]].some((grant) => grants.includes(grant ?? scope))
  const beyond = asked.find((scope) => !covers(scope))
  if (beyond === undefined) return
  const message = `the app would get ${beyond}, which this API key lacks: an app gets no more than the key that installs it`
  throw new ApiError('insufficient_scope', message, { path: ['scopes'] })
}
