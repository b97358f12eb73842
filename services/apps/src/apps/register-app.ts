import { App } from '@backoffice/contracts/app.ts'
import { NewAppManifest } from '@backoffice/contracts/app-manifest.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { type Resolve, refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import { targetOrigin } from '@backoffice/outbound/target-url.ts'
import { z } from 'zod'
import { appBody } from './app-row.ts'
import { insertApp } from './write-app.ts'

/** POST /internal/apps, for POST /admin/v1/apps: registers an app by its manifest (OP-80, OP-81, OP-225). */
export const registerApp = (policy: TargetPolicy, resolve: Resolve) =>
  operation({
    method: 'POST',
    path: '/internal/apps',
    scope: 'internal',
    body: z.strictObject({ origin: targetOrigin(policy), manifest: NewAppManifest }),
    responses: { 201: App },

    async handle({ body: { origin, manifest }, context, now, inWorkspace }) {
      await refuseForbiddenTarget({ url: new URL(origin), path: ['origin'] }, policy, resolve)
      return inWorkspace(async (tx) => created(appBody(await insertApp(tx, { origin, manifest }, null, context, now))))
    },
  })
