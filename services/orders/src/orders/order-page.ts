import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { Condition } from '@backoffice/postgres/lists/conditions.ts'
import { allHold, type Conditions, pageOfIds } from '@backoffice/postgres/lists/found-page.ts'
import { countByHours, type HourList, hourPage, isBounded, isWithin } from '@backoffice/postgres/lists/hour-page.ts'
import { isBehind, orderBy, refuseUnknown, type SortedPage } from '@backoffice/postgres/lists/list-page.ts'
import { boundsOn, CLOCKS, hasStates, matches, type OrderFilters, type Time } from './order-filters.ts'
import { MOST_COUNTED, searches } from './order-search.ts'

/** The number of orders in a list, and a query for the ids of one page. */
interface Located {
  readonly total: number
  readonly ids: SqlPart
}

/**
 * Locates a page. Lists of one customer, or of an order number, use an index and are sorted; so are searches that find
 * few orders. For all other lists kept counts tell the hours of the page's orders, and the query for the ids reads only
 * these.
 */
export async function locatePage(tx: Transaction, filters: OrderFilters, page: SortedPage): Promise<Located> {
  const [located] = await Promise.all([locate(tx, filters, page), refuseUnknown(tx, page, anyOrder(tx))])
  return located
}

async function locate(tx: Transaction, filters: OrderFilters, page: SortedPage): Promise<Located> {
  const time = timeOf(page)
  const [search, ...others] = await searches(tx, filters)
  const { customer = filters.email, order_number } = filters
  if (customer !== undefined || order_number !== undefined) {
    const conditions = tx`${meets(tx, filters)} and ${allHold(tx, search ? [search, ...others] : [])}`
    // By `createdAt` the index of customers has the order of the list; an order number has one order.
    return findPage(tx, page, conditions, time === 'id' && order_number === undefined)
  }
  if (search) return searchPage(tx, filters, page, [search, ...others])
  if (isBounded(boundsOn(tx, OTHER[time], filters))) return pageByTwoTimes(tx, filters, page)
  const { total, rows } = await hourPage(tx, countedBy(tx, time, filters), page)
  return { total, ids: tx`select id from ${rows}` }
}

const timeOf = ({ sort }: SortedPage): Time => (sort === 'id' ? 'id' : 'updated_at')
const OTHER = { id: 'updated_at', updated_at: 'id' } as const

const anyOrder = (tx: Transaction) => tx`from sales_order where workspace_id = ${tx.context.workspaceId}`

const isInBounds = (tx: Transaction, time: Time, filters: OrderFilters) =>
  isWithin(tx, time, boundsOn(tx, time, filters))

/** The conditions of all filters. */
const meets = (tx: Transaction, filters: OrderFilters) =>
  tx`${matches(tx, filters)} and ${isInBounds(tx, 'id', filters)} and ${isInBounds(tx, 'updated_at', filters)}`

const countedBy = (tx: Transaction, time: Time, filters: OrderFilters): HourList => ({
  table: tx`sales_order`,
  time,
  bounds: boundsOn(tx, time, filters),
  matches: meets(tx, filters),
  all: anyOrder(tx),
  counts: (unit, isWanted) => tx`
    select at, sum(orders)::bigint as items from order_tally
    where workspace_id = ${tx.context.workspaceId} and clock = ${tx.unsafe(`'${CLOCKS[time]}'`)}
      and sales_channel = ${filters.sales_channel ?? ''} and unit = ${tx.unsafe(`'${unit}'`)}
      and ${hasStates(tx, filters)} and ${isWanted}
    group by at having sum(orders) > 0`,
})

const onPage = (tx: Transaction, page: SortedPage) => tx`
  ${isBehind(tx, page, anyOrder(tx))} ${orderBy(tx, page)} limit ${page.taken} offset ${page.offset}`

/** Finds the orders that meet conditions, and sorts them unless an index has them in order. */
async function findPage(tx: Transaction, page: SortedPage, conditions: SqlPart, isInOrder = false): Promise<Located> {
  const orders = tx`select id, updated_at from sales_order where ${conditions}`
  // Materialized, so that PostgreSQL uses the filter's index and does not scan all orders in the order of the list.
  const [found, list] = isInOrder
    ? [tx``, tx`(${orders}) as found`]
    : [tx`with found as materialized (${orders})`, tx`found`]
  const [{ total, ids }] = await tx<[{ total: number; ids: string[] }]>`
    ${found} select (select count(*) from ${list}) as total, array(select id from ${list} where ${onPage(tx, page)}) as ids`
  return { total, ids: unnested(tx, ids) }
}

/** Up to this many orders, the matching ones are found and sorted. More orders are read in the order of the list. */
const SORT_LIMIT = 50_000

/**
 * A page of a search. Few orders are found by the index of the search, and sorted. Where there are more than are
 * counted (OP-219), a list in its order is read until the page is full: of the orders that meet the other filters where
 * these are few, else of those that the search finds, where an index has them in order. All others are scanned, since
 * many of them are found.
 */
async function searchPage(
  tx: Transaction,
  filters: OrderFilters,
  page: SortedPage,
  [search, ...others]: readonly [Condition, ...Condition[]],
): Promise<Located> {
  const isMet = tx`${meets(tx, filters)} and ${allHold(tx, others)}`
  if ((search.items ?? 0) <= MOST_COUNTED) {
    const { candidates, ...few } = await searchFew(tx, page, search.ids, isMet)
    if (candidates <= MOST_COUNTED) return few
  }
  const isAlone = others.length === 0 && OTHERS.every((name) => filters[name] === undefined)
  const found = isAlone ? Number.POSITIVE_INFINITY : await countByHours(tx, countedBy(tx, timeOf(page), filters))
  const total = Math.min(MOST_COUNTED, found)
  if (page.offset >= total) return { total, ids: tx`` }
  const isNext = isBehind(tx, page, anyOrder(tx))
  if (found <= SORT_LIMIT) {
    const met = tx`sales_order as listed where ${meets(tx, filters)} and ${isNext}`
    return { total, ids: unnested(tx, await whereInOrder(tx, page, met, allHold(tx, [search, ...others]))) }
  }
  if (!isAlone && search.ordered?.by.includes(page.sort)) {
    const rows = search.ordered.rows(page.isAscending ? tx`asc` : tx`desc`)
    const searched = tx`(${rows}) as listed where ${isNext}`
    return { total, ids: unnested(tx, await whereInOrder(tx, page, searched, isMet)) }
  }
  const filtered = { ids: tx`select id from sales_order where ${meets(tx, filters)}`, holds: meets(tx, filters) }
  const conditions: Conditions = isAlone ? [search] : [search, ...others, filtered]
  const list = { table: 'sales_order', count: tx`null` }
  return { total, ids: unnested(tx, await pageOfIds(tx, list, conditions, SORT_LIMIT, page)) }
}

/** A page of the orders that meet a condition, of at most as many `candidates` as are counted; else their number. */
async function searchFew(tx: Transaction, page: SortedPage, candidates: SqlPart, isMet: SqlPart) {
  // Not flattened: each candidate is looked up by its id.
  const [found] = await tx<[{ candidates: number; total: number; ids: string[] }]>`
    with candidate as materialized (select id from (${candidates}) as candidate limit ${MOST_COUNTED + 1}),
    found as materialized (
      select found.id, updated_at
      from (select id from candidate where (select count(*) from candidate) <= ${MOST_COUNTED}) as few cross join lateral (
        select id, updated_at from sales_order where ${isMet} and id = few.id offset 0
      ) as found
    )
    select
      (select count(*) from candidate) as candidates, (select count(*) from found) as total,
      array(select id from found where ${onPage(tx, page)}) as ids`
  return { ...found, ids: unnested(tx, found.ids) }
}

/** The page of the orders that are `listed` in the order of the list; each is looked up for a condition. */
async function whereInOrder(tx: Transaction, page: SortedPage, listed: SqlPart, holds: SqlPart) {
  const rows = await tx<{ id: string }[]>`
    select id from ${listed}
      and (select ${holds} from sales_order where workspace_id = ${tx.context.workspaceId} and id = listed.id)
    ${orderBy(tx, page)} limit ${page.taken} offset ${page.offset}`
  return rows.map(({ id }) => id)
}

const unnested = (tx: Transaction, ids: string[]) => tx`select unnest(${ids}::uuid[])`

/** The filters that a search in the order of the list has to look at its orders for. */
const OTHERS = [
  'status',
  'payment_status',
  'fulfillment_status',
  'sales_channel',
  'since',
  'until',
  'updated_since',
] as const

/** A list by one time with a filter on the other: each count knows only one of the two. */
async function pageByTwoTimes(tx: Transaction, filters: OrderFilters, page: SortedPage): Promise<Located> {
  const own = timeOf(page)
  const other = OTHER[own]
  const { since, until, updated_since } = filters
  const countIn = (time: Time) => countByHours(tx, countedBy(tx, time, { since, until, updated_since }))
  const isOwnBounded = isBounded(boundsOn(tx, own, filters))
  const [inOther, inOwn] = await Promise.all([countIn(other), isOwnBounded ? countIn(own) : Number.POSITIVE_INFINITY])
  // `is true` keeps PostgreSQL from the index of the other time.
  const beginningWith = (time: Time) =>
    tx`${matches(tx, filters)} and ${isInBounds(tx, time, filters)} and (${isInBounds(tx, OTHER[time], filters)}) is true`
  const narrow = beginningWith(inOwn < inOther ? own : other)
  if (Math.min(inOwn, inOther) <= SORT_LIMIT) return findPage(tx, page, narrow)
  const [counted] = isOwnBounded
    ? await tx<{ total: number }[]>`select count(*) as total from sales_order where ${narrow}`
    : [{ total: await countByHours(tx, countedBy(tx, other, filters)) }]
  // No order changes before its creation.
  const isLate = own === 'updated_at' && since !== undefined ? tx`updated_at >= ${since}` : tx`true`
  return {
    total: counted?.total ?? 0,
    ids: tx`select id from sales_order where ${beginningWith(own)} and ${isLate} and ${onPage(tx, page)}`,
  }
}
