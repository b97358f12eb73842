import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { markAppDeleted } from '../apps/delete-app.ts'
import { keyHolder } from '../apps/record-act.ts'
import { lockDraft, refuseApps } from './draft.ts'

/** DELETE /v1/sandbox/apps/{id} (extension): uninstalls a draft and deletes it, as an operator does an app (OP-229). */
export const deleteDraft = operation({
  method: 'DELETE',
  path: '/v1/sandbox/apps/{id}',
  operationId: 'deleteAppDraft',
  summary: 'Uninstall a draft of an app, and delete it',
  scope: 'app::delete',
  responses: { 204: null },
  openPoints: ['OP-84', 'OP-229', 'OP-286'],
  extension: true,

  handle({ params: { id }, context, now, inWorkspace }) {
    refuseApps(context)
    return inWorkspace(async (tx) => {
      await lockDraft(tx, id)
      await markAppDeleted(tx, id, keyHolder(context), now)
      return new Reply(204)
    })
  },
})
