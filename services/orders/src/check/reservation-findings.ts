import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { type Finding, streamed } from './order-findings.ts'

/** A reservation in both services has the same workspace and id. Streams are in the order of both. */
interface Identified {
  readonly workspace: string
  readonly reservation: string
}

/** A reservation of orders, with what its order needs. */
interface Reserved extends Identified {
  readonly order: string
  readonly state: 'TAKING' | 'HELD'
  readonly isPlaced: boolean
  /** `[[variant, quantity], …]` in the order of variants. */
  readonly lines: string
  readonly isYoung: boolean
}

/** What catalog has taken. */
interface Taken extends Identified {
  readonly lines: string
}

/** Connections to both services. */
interface Snapshots {
  /** Of orders, taken after the one of catalog. */
  readonly orders: AnySql
  /** Of catalog. */
  readonly catalog: AnySql
  /** A connection to orders without a snapshot. */
  readonly ordersNow: Sql
}

/** Changes of this age, in seconds, may be under way between the services. */
const YOUNG_S = 60

/**
 * Finds placed orders without their stock, and stock without its placed order. Both sides are streamed side by side, so
 * memory is bounded.
 */
export async function* reservationFindings({ orders, catalog, ordersNow }: Snapshots): AsyncGenerator<Finding> {
  yield* streamed(placedWithoutReservation(orders))
  const [{ youngSince }] = await orders<[{ youngSince: Date }]>`
    select now() - make_interval(secs => ${YOUNG_S}) as "youngSince"`
  for await (const [reserved, taken] of sideBySide(
    streamed<Reserved>(reservedBy(orders)),
    streamed<Taken>(takenBy(catalog)),
  )) {
    if (reserved) yield* findingsOf(reserved, taken)
    else if (taken) {
      const { workspace, reservation } = taken
      const tooYoung = await isReleasedSince(ordersNow, taken, youngSince)
      yield { finding: 'stock without an order', workspace, reservation, tooYoung }
    }
  }
}

function* findingsOf(reserved: Reserved, taken: Taken | undefined): Generator<Finding> {
  const { workspace, reservation, order, state, isPlaced, lines, isYoung: tooYoung } = reserved
  const about = { workspace, reservation, order, tooYoung }
  if (state === 'TAKING') {
    if (!tooYoung) yield { finding: 'abandoned reservation', ...about }
    return
  }
  if (!isPlaced) yield { finding: 'reservation without a placed order', ...about }
  if (taken === undefined) yield { finding: 'order without stock', ...about }
  else if (taken.lines !== lines) yield { finding: 'other lines', ...about, ordered: lines, taken: taken.lines }
}

/** A placed order is placed in the transaction that holds its reservation, so it is never too young. */
const placedWithoutReservation = (sql: AnySql) => sql<Finding[]>`
  select 'placed order without a reservation' as finding, workspace_id as workspace, id as order
  from sales_order
  where status in ('PLACED', 'COMPLETED') and not exists (
    select from reservation
    where reservation.workspace_id = sales_order.workspace_id and order_id = sales_order.id and state = 'HELD'
  )`

const reservedBy = (sql: AnySql) => sql<Reserved[]>`
  select reservation.workspace_id as workspace, reservation.id as reservation, order_id as order, state,
    coalesce(sales_order.status in ('PLACED', 'COMPLETED'), false) as "isPlaced",
    greatest(reservation.created_at, sales_order.updated_at) > now() - make_interval(secs => ${YOUNG_S}) as "isYoung",
    coalesce((
      select json_agg(json_build_array(variant_id, quantity) order by variant_id)
      from (
        select variant_id, sum(quantity) as quantity from order_item
        where order_item.workspace_id = reservation.workspace_id and order_item.order_id = reservation.order_id
        group by variant_id having sum(quantity) > 0
      ) as line
    ), '[]')::text as lines
  from reservation
  left join sales_order on sales_order.workspace_id = reservation.workspace_id and sales_order.id = reservation.order_id
  order by reservation.workspace_id, reservation.id`

const takenBy = (sql: AnySql) => sql<Taken[]>`
  select workspace_id as workspace, order_id as reservation, coalesce((
    select json_agg(json_build_array(variant, quantity) order by variant)
    from json_to_recordset(lines) as line (variant uuid, quantity bigint)
  ), '[]')::text as lines
  from stock_reservation where state = 'TAKEN'
  order by workspace_id, order_id`

/** Whether orders has released it so late that catalog may not have consumed the record. */
async function isReleasedSince(sql: Sql, { workspace, reservation }: Identified, since: Date): Promise<boolean> {
  const released = await sql`
    select from outbox
    where workspace_id = ${workspace} and key = ${reservation} and type = 'reservation.released' and occurred_at > ${since}`
  return released.length > 0
}

/** Joins two streams in the order of workspaces and reservations. Either side of a pair may be missing. */
async function* sideBySide(
  lefts: AsyncGenerator<Reserved>,
  rights: AsyncGenerator<Taken>,
): AsyncGenerator<[Reserved | undefined, Taken | undefined]> {
  let [left, right] = [await lefts.next(), await rights.next()]
  while (!left.done || !right.done) {
    const order = left.done ? 1 : right.done ? -1 : compare(left.value, right.value)
    yield [order <= 0 ? left.value : undefined, order >= 0 ? right.value : undefined]
    if (order <= 0) left = await lefts.next()
    if (order >= 0) right = await rights.next()
  }
}

/** PostgreSQL orders UUIDs as their texts are ordered. */
function compare(left: Identified, right: Identified): number {
  const [a, b] = [left.workspace + left.reservation, right.workspace + right.reservation]
  if (a === b) return 0
  return a < b ? -1 : 1
}
