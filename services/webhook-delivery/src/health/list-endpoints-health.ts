import { EndpointsHealth } from '@backoffice/contracts/endpoint-state.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * GET /internal/endpoints-health: the endpoints of a workspace for operators (OP-294). First those that were disabled
 * because they failed, then those that fail, the longest first. A workspace has few, so there is no page.
 */
export const listEndpointsHealth = ({ mostEndpoints }: { readonly mostEndpoints: number }) =>
  operation({
    method: 'GET',
    path: '/internal/endpoints-health',
    scope: 'internal',
    responses: { 200: EndpointsHealth },

    handle: ({ inWorkspace }) =>
      inWorkspace(async (tx) => {
        const endpoints = await readHealth(tx)
        const used = endpoints.filter(({ app }) => app === null).length
        return ok({ endpoints, limits: { endpoints: { used, most: mostEndpoints } } })
      }),
  })

interface HealthRow {
  readonly app: string | null
  readonly last_failed_at: Date | null
  readonly last_failure: object | null
}

async function readHealth(tx: Transaction) {
  const rows = await tx<HealthRow[]>`
    select endpoint.id, url, state, reason, coalesce(since, endpoint.created_at) as since, provider as app, failing_since,
      last_success_at, last_failed_at, last_failure
    from endpoint
    join endpoint_health on endpoint_health.workspace_id = endpoint.workspace_id and endpoint_health.endpoint_id = endpoint.id
    left join app_key on app_key.workspace_id = endpoint.workspace_id and app_key.id = endpoint.made_by
    left join app_installation on app_installation.workspace_id = endpoint.workspace_id
      and app_installation.id = app_key.installation_id
    where endpoint.workspace_id = ${tx.context.workspaceId}
    order by case
        when state = 'DISABLED' and reason <> 'requested' then 0
        when state = 'FAILING' then 1
        when state = 'ACTIVE' and failing_since is not null then 2
        when state = 'ACTIVE' then 3
        else 4
      end, failing_since, endpoint.id`
  return rows.map(({ last_failed_at, last_failure, ...endpoint }) => ({
    ...endpoint,
    last_failure: last_failed_at && last_failure && { at: last_failed_at, ...last_failure },
  }))
}
