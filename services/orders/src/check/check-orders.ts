import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import { WORKER_DATABASE, workerServer } from '@backoffice/postgres/database-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
import { z } from 'zod'
import { type Finding, orderFindings } from './order-findings.ts'
import { reservationFindings } from './reservation-findings.ts'

const Config = z.object({
  ...WORKER_DATABASE,
  CATALOG_WORKER_DATABASE_URL: z.url().describe('`postgres://…` of the worker role of catalog.').meta({ secret: true }),
})

const SNAPSHOT = 'isolation level repeatable read read only'

/**
 * Checks all orders in one snapshot, and their stock in a snapshot of catalog that is a moment older. Calls `report`
 * with each finding, and returns how much was checked. Both connections have to see all workspaces, as the worker roles
 * and a superuser do. `orders` needs two connections.
 */
export const checkOrders = (orders: Sql, catalog: Sql, report: (finding: Finding) => void) =>
  catalog.begin(SNAPSHOT, async (inCatalog) => {
    // The first statement takes the snapshot.
    await inCatalog`select 1`
    return orders.begin(SNAPSHOT, async (inOrders) => {
      const [checked] = await inOrders<[{ orders: number; reservations: number }]>`
        select (select count(*) from sales_order) as orders, (select count(*) from reservation) as reservations`
      for await (const finding of orderFindings(inOrders)) report(finding)
      const snapshots = { orders: inOrders, catalog: inCatalog, ordersNow: orders }
      for await (const finding of reservationFindings(snapshots)) report(finding)
      return checked
    })
  })

/**
 * `npm run check-orders -w services/orders`, with `WORKER_DATABASE_URL` and `CATALOG_WORKER_DATABASE_URL` of the worker
 * roles or a superuser: prints each finding as a line of JSON. Exits 1 if there is one that is not too young to judge.
 */
async function main(): Promise<number> {
  const config = readConfig(Config)
  const servers = {
    orders: workerServer(config),
    catalog: { ...workerServer(config), url: config.CATALOG_WORKER_DATABASE_URL },
  }
  await refuseWrongDatabase(servers.orders, 'WORKER_DATABASE_URL')
  await refuseWrongDatabase(servers.catalog, 'CATALOG_WORKER_DATABASE_URL')
  const open = (server: DatabaseServer, schema: string, poolSize: number) =>
    openDatabase({
      ...server,
      poolSize,
      applicationName: 'check orders',
      settings: { search_path: schema, statement_timeout: '0', idle_in_transaction_session_timeout: '0' },
    })
  const orders = open(servers.orders, 'orders', 2)
  const catalog = open(servers.catalog, 'catalog', 1)
  let [findings, tooYoung] = [0, 0]
  const checked = await checkOrders(orders.sql, catalog.sql, (finding) => {
    if (finding.tooYoung) tooYoung++
    else findings++
    console.log(JSON.stringify(finding))
  }).finally(() => Promise.all([orders.stop?.(), catalog.stop?.()]))
  // Printed, because a role that sees no workspace finds nothing either.
  const { orders: count, reservations } = checked
  console.log(`orders checked: ${count}; reservations: ${reservations}; findings: ${findings}; too young: ${tooYoung}`)
  return findings === 0 ? 0 : 1
}

if (import.meta.main) await runCommand(main, 1)
