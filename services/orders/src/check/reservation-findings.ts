import type { TakenPage, TakenPlace } from '@backoffice/contracts/taken-stock.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { NIL } from 'uuid'
import { type Finding, streamed } from './order-findings.ts'
import type { ReadTaken } from './taken-stock.ts'

/** A reservation of orders, with what its order needs. In both services it has the same workspace and id. */
interface Reserved extends TakenPlace {
  readonly order: string
  readonly state: 'TAKING' | 'HELD'
  readonly isPlaced: boolean
  /** `[[variant, quantity], …]` in the order of variants. */
  readonly lines: string
  readonly isYoung: boolean
}

/** What catalog has taken. */
type Taken = TakenPage['items'][number]

/** Changes of this age, in seconds, may be under way between the services. */
const YOUNG_S = 60

/** Whether a time is that of such a change. One that lies further ahead is of a time when the clock was wrong. */
const isYoung = (sql: AnySql, time: SqlPart) =>
  sql`${time} between now() - make_interval(secs => ${YOUNG_S}) and now() + make_interval(secs => ${YOUNG_S})`

/**
 * Finds placed orders without their stock, and stock without its placed order. Reads a page of catalog, and then the
 * reservations of orders up to the end of that page: what orders has is a moment younger, so whatever differs by then
 * is young, unless it is wrong.
 */
export async function* reservationFindings(sql: AnySql, readTaken: ReadTaken): AsyncGenerator<Finding> {
  yield* streamed(placedWithoutReservation(sql))
  for (let after: TakenPlace | undefined = { workspace: NIL, reservation: NIL }; after !== undefined; ) {
    const [{ youngSince }] = await sql<[{ youngSince: Date }]>`
      select now() - make_interval(secs => ${YOUNG_S}) as "youngSince"`
    const { items, has_next_page } = await readTaken({ workspace: after.workspace, reservation: after.reservation })
    const until: TakenPlace | undefined = has_next_page ? items.at(-1) : undefined
    const left = new Map(items.map((taken) => [keyOf(taken), taken]))
    for await (const reserved of streamed<Reserved>(reservedBetween(sql, after, until))) {
      yield* findingsOf(reserved, left.get(keyOf(reserved)))
      left.delete(keyOf(reserved))
    }
    const released = await releasedSince(sql, [...left.values()], youngSince)
    for (const { workspace, reservation } of left.values()) {
      const tooYoung = released.has(keyOf({ workspace, reservation }))
      yield { finding: 'stock without an order', workspace, reservation, tooYoung }
    }
    after = until
  }
}

const keyOf = ({ workspace, reservation }: TakenPlace): string => `${workspace}/${reservation}`

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

const reservedBetween = (sql: AnySql, after: TakenPlace, until: TakenPlace | undefined) => sql<Reserved[]>`
  select reservation.workspace_id as workspace, reservation.id as reservation, order_id as order, state,
    coalesce(sales_order.status in ('PLACED', 'COMPLETED'), false) as "isPlaced",
    ${isYoung(sql, sql`reservation.created_at`)} or coalesce(${isYoung(sql, sql`sales_order.updated_at`)}, false) as "isYoung",
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
  where (reservation.workspace_id, reservation.id) > (${after.workspace}, ${after.reservation})
    ${until ? sql`and (reservation.workspace_id, reservation.id) <= (${until.workspace}, ${until.reservation})` : sql``}`

/** Those that orders has released so late that catalog may not have consumed the record. */
async function releasedSince(sql: AnySql, taken: readonly Taken[], since: Date): Promise<Set<string>> {
  if (taken.length === 0) return new Set()
  const released = await sql<TakenPlace[]>`
    select workspace_id as workspace, key as reservation
    from unnest(
      ${taken.map(({ workspace }) => workspace)}::uuid[], ${taken.map(({ reservation }) => reservation)}::text[]
    ) as taken (workspace, reservation)
    join outbox on workspace_id = workspace and key = reservation
    where type = 'reservation.released' and occurred_at between ${since} and now() + make_interval(secs => ${YOUNG_S})`
  return new Set(released.map(keyOf))
}
