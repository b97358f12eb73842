import { App } from '@backoffice/contracts/app.ts'
import { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { type Resolve, refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import { targetOrigin } from '@backoffice/outbound/target-url.ts'
import { z } from 'zod'
import { type AppRow, appBody, noSuchApp } from './app-row.ts'
import { updateManifest } from './write-app.ts'

/**
 * PUT /internal/apps/{id}, for PUT /admin/v1/apps/{id}: replaces the manifest. Embed, checkout, name and audience hold
 * at once, and webhook endpoints follow a new origin (OP-227). Scopes and webhooks of an installation stay as its
 * merchant consented to them, until the merchant consents again (OP-81).
 */
export const updateApp = (policy: TargetPolicy, resolve: Resolve) =>
  operation({
    method: 'PUT',
    path: '/internal/apps/{id}',
    scope: 'internal',
    body: z.strictObject({ origin: targetOrigin(policy).optional(), manifest: AppManifest }),
    responses: { 200: App },

    async handle({ params: { id }, body: { origin, manifest }, context, now, inWorkspace }) {
      if (origin !== undefined) await refuseForbiddenTarget({ url: new URL(origin), path: ['origin'] }, policy, resolve)
      return inWorkspace(async (tx) => {
        const [app] = await tx<AppRow[]>`select * from app where id = ${id} and deleted_at is null for no key update`
        if (app === undefined) throw noSuchApp(id)
        return ok(appBody(await updateManifest(tx, app, { origin, manifest }, context, now)))
      })
    },
  })
