import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okCountedPage } from '@backoffice/http/paged-body.ts'
import type { z } from 'zod'
import { noSuchOrder } from './order.ts'

interface ListOfOrder<Row> {
  readonly operationId: string
  readonly path: `/v1/orders/{id}/${string}`
  readonly summary: string
  readonly openPoints: readonly string[]
  /** The shape of an item. */
  readonly item: z.ZodType
  readonly table: string
  /** The columns of a Row. */
  readonly columns: string
  bodyOf(row: Row): unknown
}

/** Declares a list of the rows that an order has in a table (extension of OP-43): newest first (OP-144). */
export const listOfOrder = <Row extends object>({ item, table, columns, bodyOf, ...declaration }: ListOfOrder<Row>) =>
  operation({
    ...declaration,
    method: 'GET',
    scope: 'sale::read',
    query: ListQuery,
    responses: { 200: Page(item) },
    extension: true,

    handle: ({ params: { id }, query, inWorkspace }) =>
      inWorkspace(async (tx) => {
        const workspace = tx.context.workspaceId
        const found = await tx`select from sales_order where workspace_id = ${workspace} and id = ${id}`
        if (found.length === 0) throw noSuchOrder(id)
        return okCountedPage<Row>(tx, query, {
          columns: tx.unsafe(columns),
          source: tx`from ${tx(table)} where workspace_id = ${workspace} and order_id = ${id}`,
          bytes: tx`octet_length(${tx(table)}::text)`,
          bodyOf,
        })
      }),
  })
