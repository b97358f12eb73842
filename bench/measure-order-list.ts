import { randomUUID } from 'node:crypto'
import { listOrders } from '../services/orders/src/orders/list-orders.ts'
import type { Api } from './api.ts'
import { listLatency } from './list-latency.ts'
import { ORDERS, seedOrders } from './seed-orders.ts'
import type { Row } from './table.ts'

const OTHER_ORDERS = 1000

interface Place {
  readonly api: Api
  readonly workspaceId: string
  /** Connects as orders. */
  readonly databaseUrl: string
  /** Connects as a superuser. */
  readonly postgresUrl: string
  /** Calls orders as the gateway does, for any workspace. Open it when it is needed: its token lasts 60 s. */
  openOrders(workspaceId: string): Promise<Api>
}

/** Measures lists of a workspace with two million orders, one at a time, and of a small workspace beside it. */
export async function measureOrderList({ postgresUrl, openOrders, ...place }: Place): Promise<Row[]> {
  const other = randomUUID()
  await seedOrders({ postgresUrl, workspaceId: other, orders: OTHER_ORDERS })
  const { customer, walkIn, since } = await seedOrders({ postgresUrl, workspaceId: place.workspaceId, orders: ORDERS })
  const middle = ORDERS / 40
  const rows: Row[] = []
  for (const [what, query, bound = 'p99 ≤ 50 ms'] of [
    ['page 1', ''],
    ['page 1 of 100', 'limit=100'],
    [`page ${middle}`, `page=${middle}`],
    ['last page', `page=${ORDERS / 20}`],
    ['by updatedAt', 'sort_by=updatedAt'],
    [`by updatedAt, page ${middle}`, `sort_by=updatedAt&page=${middle}`],
    ['status, 88 %', 'status=COMPLETED'],
    [`status, 88 %, page 40000`, 'status=COMPLETED&page=40000'],
    ['status, 4 %', 'status=CART'],
    ['status, 4 %, page 2000', 'status=CART&page=2000'],
    ['status, 4 %, by updatedAt, page 2000', 'status=CART&page=2000&sort_by=updatedAt'],
    ['payment_status, 0.1 %', 'payment_status=REFUNDED'],
    ['payment_status, 0.1 %, page 50', 'payment_status=REFUNDED&page=50'],
    ['payment_status, 0.1 %, page 10 of 100', 'payment_status=REFUNDED&page=10&limit=100'],
    ['fulfillment_status, 1 %, page 500', 'fulfillment_status=PARTIALLY_FULFILLED&page=500'],
    ['status and payment_status', 'status=PLACED&payment_status=UNPAID'],
    ['three statuses, page 500', 'status=PLACED&payment_status=PARTIALLY_PAID&fulfillment_status=UNFULFILLED&page=500'],
    ['sales_channel, 60 %, page 25000', 'sales_channel=web&page=25000'],
    ['sales_channel, 1 %', 'sales_channel=market'],
    ['sales_channel, 1 %, and status, 4 %', 'sales_channel=market&status=CART'],
    ['sales_channel of no order', 'sales_channel=nowhere'],
    ['order_number', 'order_number=n4711'],
    ['customer, 38 orders', `customer=${customer}`],
    ['customer, 38 orders, and status', `customer=${customer}&status=COMPLETED`],
    ['customer, 5 %', `customer=${walkIn}`, 'counts 100,000: no bound'],
    [
      'customer, 5 %, and status, page 1000',
      `customer=${walkIn}&status=COMPLETED&page=1000`,
      'counts 100,000: no bound',
    ],
    ['since, 10 %', `since=${since(0.1)}`],
    ['since, 90 %, page 40000', `since=${since(0.9)}&page=40000`],
    ['since and until, 1 %', `since=${since(0.51)}&until=${since(0.5)}`],
    ['until, 50 %, and status, 4 %, page 500', `until=${since(0.5)}&status=CART&page=500`],
    ['since, 1 %, by updatedAt', `since=${since(0.01)}&sort_by=updatedAt`],
    ['since, 90 %, by updatedAt', `since=${since(0.9)}&sort_by=updatedAt`],
    [
      'since, 90 %, status, 6 %, by updatedAt',
      `since=${since(0.9)}&status=PLACED&sort_by=updatedAt`,
      'two times: no bound',
    ],
    [
      'since, 90 %, payment_status, 0.1 %, by updatedAt',
      `since=${since(0.9)}&payment_status=REFUNDED&sort_by=updatedAt`,
      'two times: no bound',
    ],
  ]) {
    const latency = await listLatency({ ...place, operation: listOrders, path: '/v1/orders', query: query ?? '' })
    rows.push({ name: `list of ${ORDERS.toLocaleString('en')} orders: ${what}`, ...latency, bound: bound ?? '' })
  }
  const api = await openOrders(other)
  const small = { ...place, api, workspaceId: other, operation: listOrders, path: '/v1/orders' }
  for (const [what, query] of [
    ['page 1', ''],
    ['status, 4 %, by updatedAt', 'status=CART&sort_by=updatedAt'],
  ] as const) {
    const latency = await listLatency({ ...small, query })
    rows.push({ name: `list of ${OTHER_ORDERS} orders beside them: ${what}`, ...latency, bound: 'p99 ≤ 50 ms' })
  }
  await api.close()
  return rows
}
