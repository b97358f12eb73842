import { AppStatus } from '@backoffice/contracts/app.ts'
import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { changeApp } from './app-status.ts'
import type { Actor } from './record-act.ts'

/**
 * DELETE /internal/apps/{id}, for DELETE /admin/v1/apps/{id}: suspends the app for good. The sweep uninstalls it
 * everywhere, and deletes it once every call to it has ended (OP-229). Again changes nothing.
 */
export const deleteApp = operation({
  method: 'DELETE',
  path: '/internal/apps/{id}',
  scope: 'internal',
  responses: { 202: AppStatus },

  handle: ({ params: { id }, context, now, inWorkspace }) =>
    inWorkspace(async (tx) => accepted(await markAppDeleted(tx, id, context, now))),
})

/** Marks an app as deleted; the sweep does the rest. */
export const markAppDeleted = (tx: Transaction, id: string, actor: Actor, now: Date): Promise<AppStatus> =>
  changeApp(tx, id, 'app.deleted', actor, now, (app) =>
    app.deleted_at === null ? { suspended_at: app.suspended_at ?? now, deleted_at: now } : undefined,
  )
