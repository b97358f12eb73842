import { ApiError } from '@backoffice/contracts/errors.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'

/** Whether endpoints that fail for three days are disabled; true unless set (OP-254). */
const SETTINGS = { disables_failing: z.boolean() }
const WebhookSettings = namedObject('WebhookSettings', SETTINGS, { disables_failing: false })

/** GET /v1/webhooks/settings (extension, OP-254). */
export const getWebhookSettings = operation({
  operationId: 'getWebhookSettings',
  method: 'GET',
  path: '/v1/webhooks/settings',
  summary: 'Read the settings of webhooks',
  scope: 'webhook::read',
  responses: { 200: WebhookSettings },
  openPoints: ['OP-254'],
  extension: true,

  handle: ({ inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [row] = await tx`select disables_failing from endpoint_set where workspace_id = ${tx.context.workspaceId}`
      return ok(row ?? { disables_failing: true })
    }),
})

/** PUT /v1/webhooks/settings (extension, OP-254): for all endpoints of the workspace, so not with an app's key. */
export const updateWebhookSettings = operation({
  operationId: 'updateWebhookSettings',
  method: 'PUT',
  path: '/v1/webhooks/settings',
  summary: 'Change the settings of webhooks',
  scope: 'webhook::update',
  body: namedObject('WebhookSettingsUpdate', SETTINGS, { disables_failing: false }),
  responses: { 200: WebhookSettings },
  refusals: ['insufficient_scope'],
  openPoints: ['OP-254'],
  extension: true,

  async handle({ body, context, inWorkspace }) {
    if (context.appKeyId)
      throw new ApiError('insufficient_scope', "an app's key cannot change settings of the workspace", {
        errorReason: 'not_own_resource',
      })
    return inWorkspace(async (tx) => {
      await tx`
        insert into endpoint_set (workspace_id, version, disables_failing)
        values (${tx.context.workspaceId}, 1, ${body.disables_failing})
        on conflict (workspace_id) do update set disables_failing = excluded.disables_failing`
      return ok(body)
    })
  },
})
