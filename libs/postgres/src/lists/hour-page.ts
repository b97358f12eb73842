import type { SqlPart } from '../comma-separated.ts'
import type { AnySql, Transaction } from '../database.ts'
import { isBehind, type ListPage, orderBy } from './list-page.ts'

type Unit = 'HOUR' | 'DAY'

/** A list whose items are counted by the hour, and the day, of the time that it is sorted by. */
export interface HourList {
  readonly table: SqlPart
  /** The column of the time; the time of an `id` is in it. */
  readonly time: string
  /** The bounds of the time: `since` is within, `until` is not. */
  readonly bounds: Bounds
  /** The conditions of an item of the list, bounds included. */
  readonly matches: SqlPart
  /** `from` and conditions of all items that `after` may name. */
  readonly all: SqlPart
  /** The kept counts of an hour or day, as `at` and `items`, that meet a condition on `at`. */
  counts(unit: Unit, isWanted: SqlPart): SqlPart
}

export interface Bounds {
  readonly since?: SqlPart | undefined
  readonly until?: SqlPart | undefined
}

const LENGTHS = { HOUR: `interval '1 hour'`, DAY: `interval '1 day'` }

/** The bounds of `since` and `until` in a query. */
export const boundsOf = (
  sql: AnySql,
  { since, until }: { since?: string | undefined; until?: string | undefined },
): Bounds => ({
  since: since === undefined ? undefined : sql`${since}::timestamptz`,
  until: until === undefined ? undefined : sql`${until}::timestamptz`,
})

export const isBounded = ({ since, until }: Bounds): boolean => since !== undefined || until !== undefined

/** The condition that the time of a row is within bounds. */
export function isWithin(sql: AnySql, time: string, { since, until }: Bounds): SqlPart {
  const bound = (at: SqlPart) => (time === 'id' ? sql`least_id(${at})` : at)
  return sql`
    ${since === undefined ? sql`true` : sql`${sql(time)} >= ${bound(since)}`}
    ${until === undefined ? sql`` : sql`and ${sql(time)} < ${bound(until)}`}`
}

/** The number of items. */
export async function countByHours(tx: Transaction, list: HourList): Promise<number> {
  const [row] = await tx<{ total: number }[]>`
    select coalesce(sum(items), 0)::bigint as total from (${daysOf(tx, list)}) as day`
  return row?.total ?? 0
}

/**
 * Counts a list and locates a page of it: sums the counts of days up to the page, then the counts of hours in the days
 * of the page. Returns what follows `from` in a query for the page, which reads the items of these hours alone.
 */
export async function hourPage(
  tx: Transaction,
  list: HourList,
  page: ListPage,
): Promise<{ total: number; rows: SqlPart }> {
  const [{ total, hours, skipped }] = await tx<[{ total: number; hours: string[]; skipped: number }]>`
    with day as materialized (${daysOf(tx, list)}),
    day_of_page as materialized (${onPage(tx, list, page, 'DAY', tx`0`)}),
    hour as (select hour.at, items from day_of_page cross join lateral (${hoursOf(tx, list, tx`day_of_page.at`)}) as hour),
    hour_of_page as (${onPage(tx, list, page, 'HOUR', tx`(select min(before) from day_of_page)`)})
    select
      (select coalesce(sum(items), 0)::bigint from day) as total,
      coalesce(array_agg(at::text), '{}') as hours,
      coalesce(${page.offset}::bigint - min(before), 0)::bigint as skipped
    from hour_of_page`
  const rows = tx`
    unnest(${hours}::timestamptz[]) as hour (at) cross join lateral (
      select * from ${list.table}
      where ${list.matches} and ${isOfHour(tx, list, tx`hour.at`)} and ${isBehind(tx, page, list.all)}
      ${orderBy(tx, page)} limit ${skipped + page.taken}
    ) as ${list.table}
    ${orderBy(tx, page)} limit ${page.taken} offset ${skipped}`
  return { total, rows }
}

const isOfHour = (tx: Transaction, { time }: HourList, at: SqlPart) =>
  isWithin(tx, time, { since: at, until: tx`${at} + interval '1 hour'` })

function daysOf(tx: Transaction, list: HourList) {
  const recounted = tx`select coalesce(sum(items), 0) from (${hoursOf(tx, list, tx`known.at`)}) as hour`
  return countsOf(tx, list, 'DAY', tx`true`, recounted)
}

function hoursOf(tx: Transaction, list: HourList, day: SqlPart) {
  const recounted = tx`select count(*) from ${list.table} where ${list.matches} and ${isOfHour(tx, list, tx`known.at`)}`
  return countsOf(tx, list, 'HOUR', tx`at >= ${day} and at < ${day} + interval '1 day'`, recounted)
}

/** The counts of hours or days; those that the bounds cut are `recounted`. */
function countsOf(tx: Transaction, { bounds, counts }: HourList, unit: Unit, isWanted: SqlPart, recounted: SqlPart) {
  const { since = tx`timestamptz '-infinity'`, until = tx`timestamptz 'infinity'` } = bounds
  const length = tx.unsafe(LENGTHS[unit])
  if (!isBounded(bounds)) return counts(unit, isWanted)
  return tx`
    select at, case when at < ${since} or at + ${length} > ${until} then (${recounted}) else items end::bigint as items
    from (${counts(unit, tx`${isWanted} and at > ${since} - ${length} and at < ${until}`)}) as known`
}

/**
 * The hours or days of a page: `at`, and how many items come `before`, which begins with `start`. Behind an item, only
 * what is later than its hour counts: that hour itself may have nothing behind the item.
 */
function onPage(tx: Transaction, list: HourList, page: ListPage, unit: Unit, start: SqlPart): SqlPart {
  const { offset, taken, isAscending, after } = page
  const time = list.time === 'id' ? tx`uuid_extract_timestamp(id)` : tx(list.time)
  const place = tx`date_bin(${tx.unsafe(LENGTHS[unit])}, (select ${time} ${list.all} and id = ${after ?? null}), 'epoch')`
  const later = isAscending ? tx`>` : tx`<`
  const [items, isWanted] =
    after === undefined
      ? [tx`items`, tx`before + items > ${offset}::bigint`]
      : [tx`case when at ${later} ${place} then items else 0 end`, tx`at ${later}= ${place}`]
  return tx`
    select at, before from (
      select at, items, (${start} + sum(${items}) over (order by at ${isAscending ? tx`asc` : tx`desc`}) - ${items})::bigint as before
      from ${unit === 'DAY' ? tx`day` : tx`hour`}
    ) as placed
    where before < ${offset + taken}::bigint and ${isWanted}`
}
