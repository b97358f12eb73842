import { Days, WebhookFailures, WebhookUsage } from '@backoffice/contracts/usage.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'

/** GET /internal/usage: the endpoints of a workspace, and its events and deliveries by day (OP-272). One statement. */
export const getWebhookUsage = operation({
  method: 'GET',
  path: '/internal/usage',
  scope: 'internal',
  query: Days,
  responses: { 200: WebhookUsage },

  handle: ({ query: { since, until }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { workspaceId } = tx.context
      const [usage] = await tx`
        select
          (select count(*) from endpoint where workspace_id = ${workspaceId}) as endpoints,
          coalesce((
            select json_agg(counted order by day) from (
              select day,
                coalesce(sum(number) filter (where kind = 'event'), 0) as events,
                coalesce(sum(number) filter (where kind = 'delivery'), 0) as deliveries
              from daily_count where workspace_id = ${workspaceId} and day >= ${since} and day < ${until}
              group by day
            ) as counted
          ), '[]') as days`
      return ok(usage)
    }),
})

/** GET /internal/failures: how many deliveries of a workspace became FAILED, by day (OP-272). */
export const getWebhookFailures = operation({
  method: 'GET',
  path: '/internal/failures',
  scope: 'internal',
  query: Days,
  responses: { 200: WebhookFailures },

  handle: ({ query: { since, until }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const days = await tx.last`
        select day::text, sum(number)::bigint as failures from daily_count
        where workspace_id = ${tx.context.workspaceId} and day >= ${since} and day < ${until} and kind = 'failure'
        group by day order by day`
      return ok({ days })
    }),
})
