import postgres from 'postgres'

export const ORDERS = 2_000_000
const ORDER_EVERY_S = 15
const ORDERS_PER_CUSTOMER = 40
const CHUNK = 100_000

/** A hundred of each, as often as its percentage; `null` is no channel. */
const ofHundred = (shares: Readonly<Record<string, number>>) =>
  Object.entries(shares).flatMap(([value, percent]) => Array.from({ length: percent }, () => value))
const STATUSES = ofHundred({ COMPLETED: 88, PLACED: 6, CART: 4, CANCELLED: 2 })
const CHANNELS = ofHundred({ web: 60, shop: 30, market: 1, '': 9 })

interface Seed {
  /** Connects as a superuser. */
  readonly postgresUrl: string
  readonly workspaceId: string
  readonly orders: number
}

/** What the seeded orders have; `since` returns the time since which a share (0 to 1) of them was created. */
export interface SeededOrders {
  /** A customer with a few orders. */
  readonly customer: string
  /** The customer of every twentieth order. */
  readonly walkIn: string
  since(share: number): string
}

/**
 * Fills the workspace: one order was created each 15 s up to now (2,000,000 in eleven months), and each was changed
 * within three days. One in a thousand is REFUNDED.
 */
export async function seedOrders({ postgresUrl, workspaceId, orders }: Seed): Promise<SeededOrders> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined, connection: { search_path: 'orders' } })
  const end = new Date()
  const others = orders / ORDERS_PER_CUSTOMER - 1
  const customers = await sql<{ id: string }[]>`
    insert into customer (workspace_id, id, firstname, lastname, email, created_at, updated_at)
    select ${workspaceId}, uuidv7(), 'Ada', 'Byron', format('ada-%s@example.com', n), ${end}, ${end}
    from generate_series(0, ${others}::int) as n returning id`
  await sql`
    create temporary table seeded_customer as
    select id, row_number() over (order by id)::int - 1 as n from customer where workspace_id = ${workspaceId}`
  await sql`create unique index on seeded_customer (n)`
  await sql`analyze seeded_customer`
  for (let from = 0; from < orders; from += CHUNK) {
    await seedChunk(sql, { workspaceId, from, to: Math.min(from + CHUNK, orders) - 1, orders, others, end })
  }
  await sql`select merge_order_count(10000000)`
  await sql.unsafe('vacuum analyze sales_order, order_item, customer, order_count, order_change')
  await sql.end()
  const ids = customers.map(({ id }) => id).toSorted()
  return {
    customer: ids[1] ?? '',
    walkIn: ids[0] ?? '',
    since: (share) => new Date(end.getTime() - share * orders * ORDER_EVERY_S * 1000).toISOString(),
  }
}

interface Chunk {
  readonly workspaceId: string
  readonly from: number
  readonly to: number
  readonly orders: number
  /** The number of customers beside the first one. */
  readonly others: number
  readonly end: Date
}

const seedChunk = (sql: postgres.Sql, { workspaceId, from, to, orders, others, end }: Chunk) => sql`
  with new as materialized (
    select n, abs(hashint4(n)::bigint) as hash,
      uuidv7(${end}::timestamptz - clock_timestamp() - (${orders}::bigint - n) * make_interval(secs => ${ORDER_EVERY_S})) as id
    from generate_series(${from}::int, ${to}::int) as n
  ), new_item as (
    insert into order_item (workspace_id, order_id, position, id, variant_id, title, sku, quantity, unit_price, total_price)
    select ${workspaceId}, id, 0, gen_random_uuid(), gen_random_uuid(), 'Shirt', format('SHIRT-%s', n % 1000), 1, 100, 100
    from new
  )
  insert into sales_order (
    workspace_id, id, order_number, status, payment_status, fulfillment_status, sales_channel, currency, customer_id,
    subtotal_price, total_shipping, total_tax, total_discount, total_price, total_items, order_datetime, created_at, updated_at
  )
  select
    ${workspaceId}, new.id, format('N%s', new.n), status,
    case
      when new.n % 1000 = 7 then 'REFUNDED' when status = 'COMPLETED' then 'PAID'
      when hash % 10 = 0 then 'PARTIALLY_PAID' when hash % 10 < 5 then 'PAID' else 'UNPAID'
    end,
    case when status = 'COMPLETED' then 'FULFILLED' when hash % 10 = 1 then 'PARTIALLY_FULFILLED' else 'UNFULFILLED' end,
    nullif((${CHANNELS}::text[])[hash / 1000 % 100 + 1], ''), 'EUR', seeded_customer.id, 100, 0, 0, 0, 100, 1,
    uuid_extract_timestamp(new.id), uuid_extract_timestamp(new.id), uuid_extract_timestamp(new.id) + hash % 4320 * interval '1 minute'
  from (select *, (${STATUSES}::text[])[hash / 10 % 100 + 1] as status from new) as new
    join seeded_customer on seeded_customer.n = case when new.n % 20 = 0 then 0 else 1 + hash / 7 % ${others}::int end`
