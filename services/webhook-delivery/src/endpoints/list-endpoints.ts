import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { Endpoint, type EndpointRow, endpointColumns, endpointView } from './endpoint.ts'

/** GET /v1/webhooks: the workspace's endpoints, newest first, without their secrets. */
export const listEndpoints = operation({
  method: 'GET',
  path: '/v1/webhooks',
  summary: 'List webhook endpoints',
  scope: 'webhook::read',
  query: PageQuery,
  responses: { 200: Page(Endpoint) },
  openPoints: ['OP-03', 'OP-60', 'OP-62'],
  extension: true,

  async handle({ query, inWorkspace }) {
    const { page, size, offset } = pageOf(query)
    return inWorkspace(async (tx) => {
      const [total, rows] = await Promise.all([countEndpoints(tx), selectEndpoints(tx, size, offset)])
      return ok(pageView(page, size, total, rows.map(endpointView)))
    })
  },
})

async function countEndpoints(tx: Transaction): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) from endpoint where workspace_id = ${tx.context.workspaceId}`
  return row?.count ?? 0
}

const selectEndpoints = (tx: Transaction, size: number, offset: number) => tx<EndpointRow[]>`
  select ${endpointColumns(tx)}
  from endpoint where workspace_id = ${tx.context.workspaceId}
  order by id desc limit ${size} offset ${offset}`
