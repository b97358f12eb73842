import { EndpointsHealth } from '@backoffice/contracts/endpoint-state.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type HealthRow, healthBody, healthColumns, healthSource } from './health-rows.ts'

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

/** GET /console/webhooks (OP-300): the same endpoints for pages of the console. */
export const listEndpointsForConsole = operation({
  operationId: 'listEndpointsForConsole',
  method: 'GET',
  path: '/console/webhooks',
  summary: 'List all webhook endpoints, those that fail first',
  scope: 'webhook::read',
  responses: { 200: EndpointsHealth.omit({ limits: true }) },
  openPoints: ['OP-300'],
  extension: true,

  handle: ({ inWorkspace }) => inWorkspace(async (tx) => ok({ endpoints: await readHealth(tx) })),
})

async function readHealth(tx: Transaction) {
  const rows = await tx<HealthRow[]>`
    select ${healthColumns(tx)} ${healthSource(tx)}
    where health.workspace_id = ${tx.context.workspaceId}
    order by case
        when health.state = 'DISABLED' and health.reason <> 'requested' then 0
        when health.state = 'FAILING' then 1
        when health.state = 'ACTIVE' and failing_since is not null then 2
        when health.state = 'ACTIVE' then 3
        else 4
      end, failing_since, health.endpoint_id`
  return rows.map(healthBody)
}
