import { PLATFORM } from '@backoffice/contracts/app.ts'
import { FailingEndpoint, FailingEndpointQuery } from '@backoffice/contracts/endpoint-state.ts'
import { Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { type HealthRow, healthBody, healthColumns, healthSource } from './health-rows.ts'

/**
 * GET /internal/failing-endpoints, for operators: the endpoints of all workspaces that were disabled because they
 * failed, then those that fail, in each state the longest first (OP-298).
 */
export const listFailingEndpoints = ({ worker }: { readonly worker: Pick<Database, 'sql'> }) =>
  operation({
    method: 'GET',
    path: '/internal/failing-endpoints',
    scope: 'internal',
    query: FailingEndpointQuery,
    responses: { 200: Page(FailingEndpoint) },

    async handle({ query: { state, ...query }, context }) {
      const { sql } = worker
      // Only operators ask for the whole platform: a merchant's request finds nothing.
      const page = await countedPage<HealthRow>(sql, query, {
        columns: sql`health.workspace_id as workspace, ${healthColumns(sql)}`,
        source: sql`
          ${healthSource(sql)}
          where ${context.workspaceId === PLATFORM} and health.state <> 'ACTIVE' and health.reason <> 'requested'
            ${state === undefined ? sql`` : sql`and health.state = ${state}`}`,
        by: ['health.state', 'health.since', 'health.endpoint_id'],
        isAscending: true,
      })
      return ok({ ...page, items: page.items.map(healthBody) })
    },
  })
