import { TimestampInput } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { endpointsChanged } from '../endpoints/endpoint.ts'

/** `at` is by the clock of apps: a request that is older than the last one changes nothing. */
const body = z.strictObject({ provider: z.string(), at: TimestampInput })
type Change = z.output<typeof body>

const changeOf = (to: 'suspend' | 'resume') =>
  operation({
    method: 'POST',
    path: `/internal/app-installations/{id}/${to}` as const,
    scope: 'internal',
    body,
    responses: { 204: null },

    handle: ({ params: { id }, body, inWorkspace }) => inWorkspace((tx) => save(tx, id, body, to === 'resume')),
  })

/** POST /internal/app-installations/{id}/suspend: the deliveries to the endpoints of an app wait (OP-233). */
export const suspendInstallation = changeOf('suspend')

/** POST /internal/app-installations/{id}/resume: what has waited for the endpoints of an app is sent (OP-233). */
export const resumeInstallation = changeOf('resume')

async function save(tx: Transaction, id: string, { provider, at }: Change, isResumed: boolean): Promise<Reply> {
  const saved = await tx`
    insert into app_installation as known (workspace_id, id, provider, suspension_changed_at, resumed_at)
    values (${tx.context.workspaceId}, ${id}, ${provider}, ${at}, case when ${isResumed} then clock_timestamp() end)
    on conflict (workspace_id, id) do update set
      suspension_changed_at = excluded.suspension_changed_at, resumed_at = excluded.resumed_at
      where coalesce(known.suspension_changed_at < excluded.suspension_changed_at, true)`
  if (saved.count > 0) await endpointsChanged(tx)
  return new Reply(204)
}
