import { FULFILLMENT_STATUSES, ORDER_STATUSES, type Order, PAYMENT_STATUSES } from '@backoffice/contracts/order.ts'
import type { pageView } from '@backoffice/contracts/pagination.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { mergeBatch } from '@backoffice/postgres/merge-counts.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { listOrders } from '../list-orders.ts'

export type OrderList = ReturnType<typeof pageView<Order>>

/** The time of the first seeded order. */
export const SEED_START = new Date('2026-02-01T10:20:00Z')

/** Lists of orders over a database of their own, without a catalog. */
export async function orderLists() {
  const database = await testDatabase('orders')
  const { admin, db, workerUrl } = database
  const worker = openDatabase({ url: workerUrl, applicationName: 'counts', poolSize: 4 })
  whenDone(() => worker.stop?.())
  const send = serviceClient(db, [listOrders])
  return {
    ...database,
    send,
    list: async (caller: Caller, query = ''): Promise<OrderList> => {
      const { status, body } = await send<OrderList>(caller, 'GET', `/v1/orders?${query}`)
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body
    },
    merge: () => mergeBatch(worker.sql, 'order_count'),

    /** Counts that differ from the number of orders that they are about. */
    wrongCounts: () => admin`
      with counted as (
        select workspace_id, clock, counted.sales_channel, unit, at, status, payment_status, fulfillment_status, count(*) as orders
        from sales_order, counts_of(
          sales_order.sales_channel, hour_of(uuid_extract_timestamp(id)), hour_of(updated_at)
        ) as counted
        group by 1, 2, 3, 4, 5, 6, 7, 8
      ), kept as (
        select workspace_id, clock, sales_channel, unit, at, status, payment_status, fulfillment_status, sum(orders) as orders
        from order_tally group by 1, 2, 3, 4, 5, 6, 7, 8
      )
      select *, kept.orders as kept, counted.orders as counted from kept full join counted using (
        workspace_id, clock, sales_channel, unit, at, status, payment_status, fulfillment_status
      )
      where coalesce(kept.orders, 0) <> coalesce(counted.orders, 0)`,

    /**
     * Gives the workspace orders with a line each, `everyS` seconds apart from SEED_START on, that were changed up to
     * two days later. One in seven has the channel `web`, one in a hundred `market`; half are of customers, of which
     * there is one per hundred orders.
     */
    async seed({ workspaceId }: Caller, count: number, everyS: number) {
      const workspace = admin`${workspaceId}::uuid`
      await admin`
        with new_customer as materialized (
          insert into customer (workspace_id, id, firstname, lastname, email, created_at, updated_at)
          select ${workspace}, uuidv7(), 'Ada', 'Byron', format('ada-%s@example.com', n), now(), now()
          from generate_series(0, ${Math.floor((count - 1) / 100)}::int) as n
          returning id
        ), numbered_customer as materialized (
          select id, row_number() over () - 1 as nth from new_customer
        ), new as materialized (
          select n, abs(hashint4(n)) as hash, at, uuidv7(at - clock_timestamp()) as id
          from generate_series(0, ${count - 1}::int) as n,
            lateral (select ${SEED_START}::timestamptz + n * ${everyS}::int * interval '1 second') as timed (at)
        ), new_item as (
          insert into order_item (
            workspace_id, order_id, position, id, variant_id, title, sku, quantity, unit_price, total_price
          )
          select ${workspace}, id, 0, uuidv7(), uuidv7(), 'Shirt', format('SHIRT-%s', n), 1, 100, 100 from new
        )
        insert into sales_order (
          workspace_id, id, order_number, status, payment_status, fulfillment_status, sales_channel, currency, customer_id,
          subtotal_price, total_shipping, total_tax, total_discount, total_price, total_items, order_datetime, created_at, updated_at
        )
        select
          ${workspace}, new.id, format('N%s', n),
          case when n % 100 = 1 then 'CANCELLED' else (${[...ORDER_STATUSES]}::text[])[hash % 3 + 1] end,
          (${[...PAYMENT_STATUSES]}::text[])[hash / 10 % 4 + 1],
          (${[...FULFILLMENT_STATUSES]}::text[])[hash / 100 % 3 + 1],
          case when n % 7 = 2 then 'web' when n % 100 = 3 then 'market' end,
          'EUR', numbered_customer.id, 100, 0, 0, 0, 100, 1, at, uuid_extract_timestamp(new.id),
          uuid_extract_timestamp(new.id) + hash / 7 % 2880 * interval '1 minute'
        from new left join numbered_customer on n % 2 = 0 and n / 100 = nth`
    },
  }
}
