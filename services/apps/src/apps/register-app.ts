import { App } from '@backoffice/contracts/app.ts'
import { NewAppManifest } from '@backoffice/contracts/app-manifest.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { type Resolve, refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import { targetOrigin } from '@backoffice/outbound/target-url.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { refuseTakenNames } from './app-names.ts'
import { type AppRow, appBody } from './app-row.ts'
import { recordAct } from './record-act.ts'

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
      return inWorkspace(async (tx) => {
        const id = uuidv7()
        await refuseTakenNames(tx, id, manifest)
        const [row] = await tx<AppRow[]>`
          insert into app (id, provider, origin, manifest, created_at, updated_at)
          values (${id}, ${manifest.provider}, ${origin}, ${tx.json(manifest)}, ${now}, ${now})
          returning *`
        await recordAct(tx, context, 'app.registered', `apps/${id}`, now)
        return created(appBody(row as AppRow))
      })
    },
  })
