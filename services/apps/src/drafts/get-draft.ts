import { AppDraft } from '@backoffice/contracts/app.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { draftBody, findDraft } from './draft.ts'

/** GET /v1/sandbox/apps/{id} (extension): a draft, and how far its installation is (OP-286). */
export const getDraft = operation({
  method: 'GET',
  path: '/v1/sandbox/apps/{id}',
  operationId: 'getAppDraft',
  summary: 'Get a draft of an app, and how far its installation is',
  scope: 'app::read',
  responses: { 200: AppDraft },
  openPoints: ['OP-286'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) => inWorkspace(async (tx) => ok(draftBody(await findDraft(tx, id)))),
})
