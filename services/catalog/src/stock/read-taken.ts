import { TakenPage, TakenPlace } from '@backoffice/contracts/taken-stock.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Database } from '@backoffice/postgres/database.ts'

/** A reservation may have a thousand lines. */
const PAGE_SIZE = 200

/** GET /internal/stock/taken: what orders of all workspaces hold, a page after a place. `check-orders` compares it. */
export const readTaken = ({ sql }: Pick<Database, 'sql'>) =>
  operation({
    method: 'GET',
    path: '/internal/stock/taken',
    scope: 'internal',
    query: TakenPlace,
    responses: { 200: TakenPage },
    async handle({ query: { workspace, reservation } }) {
      const rows = await sql<TakenPage['items']>`
        select workspace_id as workspace, order_id as reservation, coalesce((
          select json_agg(json_build_array(variant, quantity) order by variant)
          from json_to_recordset(lines) as line (variant uuid, quantity bigint)
        ), '[]')::text as lines
        from stock_reservation where state = 'TAKEN' and (workspace_id, order_id) > (${workspace}, ${reservation})
        order by workspace_id, order_id limit ${PAGE_SIZE + 1}`
      return ok({ items: rows.slice(0, PAGE_SIZE), has_next_page: rows.length > PAGE_SIZE })
    },
  })
