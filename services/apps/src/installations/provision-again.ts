import { Installation } from '@backoffice/contracts/app.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
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
import { recordAct } from '../apps/record-act.ts'
import { addProvision, hastenProvision } from '../calls/add-calls.ts'

interface Provisioning {
  readonly secretKeys: SecretKeys
  wake(): void
}

/** POST /internal/installations/{id}/provision: delivers a new key and a new endpoint to an installed app (OP-227). */
export const provisionAgain = ({ wake, secretKeys, ...databases }: Databases & Provisioning) =>
  operation({
    method: 'POST',
    path: '/internal/installations/{id}/provision',
    scope: 'internal',
    responses: { 202: Installation },

    async handle({ params: { id }, context, now }) {
      const row = await inWorkspaceOf(databases, context, id, async (tx) =>
        requestProvision(tx, await lockInstallation(tx, id), secretKeys, context, now),
      )
      wake()
      return accepted(installationBody(row))
    },
  })

/** POST /internal/provisions: the same for the app of a key, which operators rotate (OP-227). Throws `conflict`. */
export const provisionForKey = ({ wake, secretKeys }: Provisioning) =>
  operation({
    method: 'POST',
    path: '/internal/provisions',
    scope: 'internal',
    body: z.strictObject({ key: Id }),
    responses: { 202: Installation },

    async handle({ body: { key }, context, now, inWorkspace }) {
      const reply = await inWorkspace(async (tx) => {
        const [installed] = await tx<{ id: string }[]>`
          select id from installation
          where workspace_id = ${tx.context.workspaceId} and key_id = ${key} and state = 'ACTIVE'`
        if (installed === undefined) throw conflict([], `${key} is not the key of an installed app`)
        const installation = await lockInstallation(tx, installed.id)
        return accepted(installationBody(await requestProvision(tx, installation, secretKeys, context, now)))
      })
      wake()
      return reply
    },
  })

/**
 * Adds a provision with what the merchant consented to; one that waits is made at once instead. Throws `conflict` for
 * an installation that has ended, or that the merchant has not consented to.
 */
async function requestProvision(
  tx: Transaction,
  installation: InstallationRow,
  secretKeys: SecretKeys,
  actor: RequestContext,
  now: Date,
): Promise<InstallationRow> {
  const { id, state, manifest } = installation
  if (state === 'FAILED' || state === 'UNINSTALLED') {
    throw conflict([], `the installation is ${state}; install the app again`)
  }
  if (manifest === null) throw conflict([], 'the merchant has not consented to the app yet')
  if (await hastenProvision(tx, id)) return installation
  await addProvision(tx, installation, manifest, secretKeys)
  await recordAct(tx, actor, 'installation.provisioned', `installations/${id}`, now)
  return findInstallation(tx, id)
}
