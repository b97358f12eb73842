import { TimestampInput } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

/** `at` is by the clock of apps: a request that is older than the last one changes nothing. */
const body = z.strictObject({ at: TimestampInput })

/**
 * POST /internal/app-keys/{id}/suspend: the key of a suspended app is refused, everywhere within 5 s (OP-228). It is no
 * error when there is none.
 */
export const suspendAppKey = operation({
  method: 'POST',
  path: '/internal/app-keys/{id}/suspend',
  scope: 'internal',
  body,
  responses: { 204: null },

  handle: ({ params: { id }, body: { at }, inWorkspace }) => inWorkspace((tx) => save(tx, id, at, true)),
})

/** POST /internal/app-keys/{id}/resume: the key of an app works again (OP-228). */
export const resumeAppKey = operation({
  method: 'POST',
  path: '/internal/app-keys/{id}/resume',
  scope: 'internal',
  body,
  responses: { 204: null },

  handle: ({ params: { id }, body: { at }, inWorkspace }) => inWorkspace((tx) => save(tx, id, at, false)),
})

async function save(tx: Transaction, id: string, at: string, isSuspended: boolean): Promise<Reply> {
  await tx`
    update api_key set
      app_suspended_at = case when ${isSuspended} then ${at}::timestamptz end, app_suspension_changed_at = ${at}
    where workspace_id = ${tx.context.workspaceId} and app_key_id = ${id}
      and coalesce(app_suspension_changed_at < ${at}, true)`
  return new Reply(204)
}
