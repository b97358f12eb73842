import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { hasStates, isCreatedWithin, matches, type OrderFilters } from './order-filters.ts'

export type OrderSort = 'createdAt' | 'updatedAt'

/** A page of a list and the order of the list. Orders of equal times are in the order of their ids, so that pages never overlap. */
export interface PageWanted {
  readonly sort: OrderSort
  readonly order: 'asc' | 'desc'
  readonly size: number
  readonly offset: number
}

/** The number of orders in a list, and a query for the ids of one page. */
interface Located {
  readonly total: number
  readonly ids: SqlPart
}

/**
 * Locates a page with one or two statements. Lists of one customer, or of an order number, use an index and are sorted. For all
 * other lists kept counts tell the hours of the page's orders, and the query for the ids reads only these.
 */
export async function locatePage(tx: Transaction, filters: OrderFilters, wanted: PageWanted): Promise<Located> {
  if (filters.customer !== undefined || filters.order_number !== undefined) return findPage(tx, filters, wanted)
  if (wanted.sort === 'updatedAt' && (filters.since !== undefined || filters.until !== undefined)) {
    return pageByUpdateWithinCreation(tx, filters, wanted)
  }
  const { total, hours, skipped } = await locateHours(tx, filters, wanted)
  return { total, ids: idsOfHours(tx, filters, wanted, { hours, skipped }) }
}

/** `order by` of a page. Ids are in the order of `createdAt`. */
export const orderBy = (tx: Transaction, { sort, order }: PageWanted) => {
  const way = order === 'asc' ? tx`asc` : tx`desc`
  return sort === 'createdAt' ? tx`id ${way}` : tx`updated_at ${way}, id ${way}`
}

/** Materialized, so that PostgreSQL uses the filter's index and does not scan all orders in the order of the list. */
const found = (tx: Transaction, filters: OrderFilters) => tx`
  found as materialized (
    select id, updated_at from sales_order where ${matches(tx, filters)} and ${isCreatedWithin(tx, filters)}
  )`

/** By `createdAt` the index of customers has the order of the list; an order number has one order. */
async function findPage(tx: Transaction, filters: OrderFilters, wanted: PageWanted): Promise<Located> {
  const isInOrder = wanted.sort === 'createdAt' && filters.order_number === undefined
  const list = isInOrder ? tx`sales_order where ${matches(tx, filters)} and ${isCreatedWithin(tx, filters)}` : tx`found`
  const [{ total, ids }] = await tx<[{ total: number; ids: string[] }]>`
    ${isInOrder ? tx`` : tx`with ${found(tx, filters)}`}
    select (select count(*) from ${list}) as total, array(select id from ${list} ${onPage(tx, wanted)}) as ids`
  return { total, ids: tx`select unnest(${ids}::uuid[])` }
}

/** Up to this many orders, the matching ones are found and sorted. More orders are read in the order of the list. */
const SORT_LIMIT = 50_000

/** A list by `updatedAt` with a filter on the time of creation: each count knows only one of the two times. */
async function pageByUpdateWithinCreation(
  tx: Transaction,
  filters: OrderFilters,
  wanted: PageWanted,
): Promise<Located> {
  const { since, until } = filters
  const created = { ...wanted, sort: 'createdAt' } as const
  const [{ total }, { total: within }] = await Promise.all([
    locateHours(tx, filters, created),
    locateHours(tx, { since, until }, created),
  ])
  if (within <= SORT_LIMIT)
    return { total, ids: tx`with ${found(tx, filters)} select id from found ${onPage(tx, wanted)}` }
  return {
    total,
    // `is true` keeps PostgreSQL from the index of ids: only the other one has the order of the list.
    ids: tx`
      select id from sales_order
      where ${matches(tx, filters)} and (${isCreatedWithin(tx, filters)}) is true
        ${since === undefined ? tx`` : tx`and updated_at >= ${since}`}
      ${onPage(tx, wanted)}`,
  }
}

const onPage = (tx: Transaction, wanted: PageWanted) =>
  tx`order by ${orderBy(tx, wanted)} limit ${wanted.size} offset ${wanted.offset}`

interface Hours {
  /** The hours that the page's orders are from. */
  readonly hours: readonly string[]
  /** How many orders of these hours come before the page. */
  readonly skipped: number
}

/** Sums the counts of days up to the page, then the counts of hours in the days of the page. */
async function locateHours(tx: Transaction, filters: OrderFilters, { sort, order, size, offset }: PageWanted) {
  const way = order === 'asc' ? tx`asc` : tx`desc`
  const before = tx`(sum(orders) over (order by at ${way}) - orders)::bigint`
  const isOnPage = tx`before < ${offset + size}::bigint and before + orders > ${offset}::bigint`
  const [located] = await tx<[Hours & { total: number }]>`
    with day as materialized (
      ${counted(tx, filters, sort, 'DAY', (at) => tx`(select coalesce(sum(orders), 0) from (${hoursOfDay(tx, filters, sort, at)}) as hour)`)}
    ),
    day_of_page as materialized (
      select at, before from (select at, orders, ${before} as before from day) as placed where ${isOnPage}
    ),
    hour as (
      select hour.at, orders from day_of_page cross join lateral (${hoursOfDay(tx, filters, sort, tx`day_of_page.at`)}) as hour
    ),
    hour_of_page as (
      select at, before from (
        select at, orders, (select min(before) from day_of_page) + ${before} as before from hour
      ) as placed
      where ${isOnPage}
    )
    select
      (select coalesce(sum(orders), 0)::bigint from day) as total,
      coalesce(array_agg(at::text), '{}') as hours,
      coalesce(${offset}::bigint - min(before), 0)::bigint as skipped
    from hour_of_page`
  return located
}

const hoursOfDay = (tx: Transaction, filters: OrderFilters, sort: OrderSort, day: SqlPart) =>
  counted(
    tx,
    filters,
    sort,
    'HOUR',
    (at) => tx`(
      select count(*) from sales_order
      where ${matches(tx, filters)} and ${isCreatedWithin(tx, filters)} and ${isOfHour(tx, sort, at)}
    )`,
    tx`and at >= ${day} and at < ${day} + interval '1 day'`,
  )

/** The number of orders per hour or day, from the kept counts; those that `since` and `until` cut are `recounted`. */
function counted(
  tx: Transaction,
  filters: OrderFilters,
  sort: OrderSort,
  unit: 'HOUR' | 'DAY',
  recounted: (at: SqlPart) => SqlPart,
  within: SqlPart = tx``,
) {
  const { since, until, sales_channel: channel = '' } = filters
  const length = unit === 'HOUR' ? tx`interval '1 hour'` : tx`interval '1 day'`
  const known = tx`
    select at, sum(orders)::bigint as orders from order_tally
    where workspace_id = ${tx.context.workspaceId} and clock = ${sort === 'createdAt' ? tx`'CREATED'` : tx`'UPDATED'`}
      and sales_channel = ${channel} and unit = ${unit === 'HOUR' ? tx`'HOUR'` : tx`'DAY'`} and ${hasStates(tx, filters)}
      ${since === undefined ? tx`` : tx`and at > ${since}::timestamptz - ${length}`}
      ${until === undefined ? tx`` : tx`and at < ${until}::timestamptz`}
      ${within}
    group by at having sum(orders) > 0`
  if (since === undefined && until === undefined) return known
  return tx`
    select at, case when ${since === undefined ? tx`false` : tx`at < ${since}::timestamptz`}
      or ${until === undefined ? tx`false` : tx`at + ${length} > ${until}::timestamptz`}
      then ${recounted(tx`known.at`)} else orders end::bigint as orders
    from (${known}) as known`
}

const isOfHour = (tx: Transaction, sort: OrderSort, at: SqlPart) =>
  sort === 'createdAt'
    ? tx`id >= least_id(${at}) and id < least_id(${at} + interval '1 hour')`
    : tx`updated_at >= ${at} and updated_at < ${at} + interval '1 hour'`

function idsOfHours(tx: Transaction, filters: OrderFilters, wanted: PageWanted, { hours, skipped }: Hours): SqlPart {
  const { sort, size } = wanted
  return tx`
    select id from unnest(${[...hours]}::timestamptz[]) as hour (at) cross join lateral (
      select id, updated_at from sales_order
      where ${matches(tx, filters)} and ${isCreatedWithin(tx, filters)} and ${isOfHour(tx, sort, tx`hour.at`)}
      order by ${orderBy(tx, wanted)} limit ${skipped + size}
    ) as listed
    ${onPage(tx, { ...wanted, offset: skipped })}`
}
