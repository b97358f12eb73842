import type { Sql } from '@backoffice/postgres/database.ts'
import type { Check } from '@backoffice/service/checks/check.ts'
import { type Finding, orderFindings } from './order-findings.ts'
import { reservationFindings } from './reservation-findings.ts'
import type { ReadTaken } from './taken-stock.ts'

/**
 * Checks all orders, and their stock at catalog. Calls `report` with each finding, and returns how much was checked.
 * `sql` has to see all workspaces, as the worker role and a superuser do.
 */
export async function checkOrders(sql: Sql, readTaken: ReadTaken, report: (finding: Finding) => void) {
  const [checked] = await sql<[{ orders: number; reservations: number }]>`
    select (select count(*) from sales_order)::integer as orders, (select count(*) from reservation)::integer as reservations`
  for await (const finding of orderFindings(sql)) report(finding)
  for await (const finding of reservationFindings(sql, readTaken)) report(finding)
  return checked
}

/** The same, for operators. */
export const ordersCheck = (readTaken: ReadTaken): Check => ({
  run: async ({ sql, report }) => ({ ...(await checkOrders(sql, readTaken, report)) }),
})
