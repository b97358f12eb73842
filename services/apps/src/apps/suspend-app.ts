import { AppStatus, SuspensionReason } from '@backoffice/contracts/app.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { changeApp } from './app-status.ts'

/**
 * POST /internal/apps/{id}/suspend, for POST /admin/v1/apps/{id}/suspend: no session, checkout, installation or
 * provision from now on; keys and webhooks stop as the sweep comes to them (OP-228). Again changes nothing.
 */
export const suspendApp = operation({
  method: 'POST',
  path: '/internal/apps/{id}/suspend',
  scope: 'internal',
  body: SuspensionReason,
  responses: { 200: AppStatus },

  handle: ({ params: { id }, body: { reason = null }, context, now, inWorkspace }) =>
    inWorkspace(async (tx) =>
      ok(
        await changeApp(tx, id, 'app.suspended', context, now, (app) =>
          app.suspended_at === null ? { suspended_at: now, suspension_reason: reason } : undefined,
        ),
      ),
    ),
})

/**
 * POST /internal/apps/{id}/resume: ends the suspension. Provisions that have waited have 24 hours from now on. Again
 * changes nothing. Throws `conflict` for an app that is being deleted.
 */
export const resumeApp = ({ worker, wake }: { readonly worker: Database; wake(): void }) =>
  operation({
    method: 'POST',
    path: '/internal/apps/{id}/resume',
    scope: 'internal',
    body: z.strictObject({}).prefault({}),
    responses: { 200: AppStatus },

    async handle({ params: { id }, context, now, inWorkspace }) {
      // Before the app is resumed: no replica may give up what has expired meanwhile.
      await worker.sql`
        update call set expires_at = clock_timestamp() + interval '24 hours', due_at = clock_timestamp()
        where app_id = ${id} and kind = 'provision' and exists (
          select from app where app.id = call.app_id and suspended_at is not null and deleted_at is null
        )`
      const reply = await inWorkspace(async (tx) =>
        ok(
          await changeApp(tx, id, 'app.resumed', context, now, (app) => {
            if (app.deleted_at !== null) throw conflict([], 'the app is being deleted')
            return app.suspended_at === null ? undefined : { suspended_at: null, suspension_reason: null }
          }),
        ),
      )
      wake()
      return reply
    },
  })
