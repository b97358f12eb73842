import { AppSession } from '@backoffice/contracts/app.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { type Databases, findInstallation, inWorkspaceOf } from '../apps/installation-rows.ts'
import type { AppTokens } from '../tokens/app-tokens.ts'

/** POST /internal/installations/{id}/session: a session token for the embed of an ACTIVE app (OP-83). */
export const openSession = ({ tokens, ...databases }: Databases & { readonly tokens: AppTokens }) =>
  operation({
    method: 'POST',
    path: '/internal/installations/{id}/session',
    scope: 'internal',
    responses: { 201: AppSession },

    async handle({ params: { id }, context, now }) {
      const row = await inWorkspaceOf(databases, context, id, (tx) => findInstallation(tx, id))
      if (row.state !== 'ACTIVE')
        throw conflict([], `the installation is ${row.state}; only an ACTIVE one has sessions`)
      if (row.app_suspended_at !== null) throw conflict([], `the app ${row.app_manifest.provider} is suspended`)
      const { token, expiresAt } = await tokens.session(row, now)
      const { provider, embed } = row.app_manifest
      return created({ token, expires_at: expiresAt, provider, origin: row.origin, embed })
    },
  })
