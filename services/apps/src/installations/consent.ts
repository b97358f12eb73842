import { isDeepStrictEqual } from 'node:util'
import { Installation } from '@backoffice/contracts/app.ts'
import { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { z } from 'zod'
import {
  type Databases,
  findInstallation,
  type InstallationRow,
  installationBody,
  inWorkspaceOf,
  lockInstallation,
} from '../apps/installation-rows.ts'
import { type Actor, recordAct } from '../apps/record-act.ts'
import { addProvision } from '../calls/add-calls.ts'

const Shown = z.strictObject({
  scopes: z.array(z.string()).optional(),
  /** Gateways of the version before send these beside `webhooks`, which have them. */
  events: z.array(z.string()).optional(),
  webhooks: AppManifest.shape.webhooks.nullable(),
})
type Shown = z.output<typeof Shown>

/**
 * POST /internal/installations/{id}/consent: the merchant consents to what the installation asks for, and the provision
 * of the app begins (OP-81). `scopes` and `webhooks` are those that the merchant was shown; when the app asks for
 * others by now, nothing happens. A second consent changes nothing.
 */
export const consentToInstallation = ({
  wake,
  secretKeys,
  ...databases
}: Databases & { readonly secretKeys: SecretKeys; wake(): void }) =>
  operation({
    method: 'POST',
    path: '/internal/installations/{id}/consent',
    scope: 'internal',
    body: Shown.default({}),
    responses: { 200: Installation },

    async handle({ params: { id }, body, context, now }) {
      const row = await inWorkspaceOf(databases, context, id, async (tx) => {
        const installation = await lockInstallation(tx, id)
        const requested = requestedManifest(installation, body)
        if (requested !== null) await consentTo(tx, installation, requested, secretKeys, context, now)
        return findInstallation(tx, id)
      })
      wake()
      return ok(installationBody(row))
    },
  })

/** Notes the consent to what a locked installation asks for, and adds the provision of the app. */
export async function consentTo(
  tx: Transaction,
  installation: InstallationRow,
  requested: AppManifest,
  keys: SecretKeys,
  actor: Actor,
  now: Date,
): Promise<void> {
  const { id } = installation
  await tx`
    update installation set
      manifest = coalesce(manifest, requested_manifest), requested_manifest = null, consented_at = ${now},
      last_error = null
    where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  await addProvision(tx, installation, requested, keys)
  await recordAct(tx, actor, 'installation.consented', `installations/${id}`, now)
}

/**
 * What waits for a consent; null when nothing does. Throws `conflict` when none can be given, or not to what was shown.
 */
function requestedManifest({ state, requested_manifest: requested }: InstallationRow, shown: Shown) {
  const { scopes, webhooks } = shown
  if (state === 'FAILED' || state === 'UNINSTALLED')
    throw conflict([], `the installation is ${state}; install the app again`)
  if (requested !== null && isOther(scopes, requested.scopes)) {
    throw conflict(['scopes'], 'the app asks for other scopes by now; read them again')
  }
  if (
    requested !== null &&
    webhooks !== undefined &&
    !isDeepStrictEqual(sorted(webhooks), sorted(requested.webhooks ?? null))
  ) {
    throw conflict(['webhooks'], 'the app asks for other webhooks by now; read them again')
  }
  return requested
}

const sorted = (webhooks: NonNullable<AppManifest['webhooks']> | null) =>
  webhooks && { ...webhooks, events: webhooks.events.toSorted() }

/** Whether the app asks for other scopes than those shown. */
export const isOther = (shown: string[] | undefined, asked: string[]): boolean =>
  shown !== undefined && shown.toSorted().join() !== asked.toSorted().join()
