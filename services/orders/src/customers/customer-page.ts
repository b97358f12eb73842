import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { Condition } from './customer-filters.ts'

/** The conditions of a list of customers: a customer meets all of them. */
type Conditions = readonly [Condition, ...Condition[]]

/** A page of a list and the order of the list. Customers with equal keys are in the order of their ids, so that pages never overlap. */
interface PageWanted {
  readonly sort: 'createdAt' | 'updatedAt' | 'name'
  readonly order: 'asc' | 'desc'
  readonly size: number
  readonly offset: number
}

/** The number of customers that meet the conditions. Several words are counted by joining what each finds. */
export async function countCustomers(tx: Transaction, conditions: Conditions): Promise<number> {
  const count = countOf(conditions) ?? tx`(select count(*) from (${matching(tx, conditions)}) as match)`
  const [row] = await tx<{ total: number }[]>`select ${count} as total`
  return row?.total ?? 0
}

/** The kept count, which only a single condition has. */
const countOf = ([first, ...others]: Conditions) => (others.length === 0 ? first.count : undefined)

/** Where at most this many customers meet the first condition, their rows are read for the others. */
const SORT_LIMIT = 10_000

/** The ids of the customers that meet all conditions. */
function matching(tx: Transaction, [first, ...others]: Conditions) {
  if (others.length === 0) return first.ids
  if (first.customers > SORT_LIMIT) {
    return tx`
      select id from (${first.ids}) as candidate where ${allOf(others.map(({ ids }) => tx`id in (${ids})`))}`
  }
  return tx`
    select id from customer
    where workspace_id = ${tx.context.workspaceId} and id = any(array(${first.ids}))
      and ${allOf(others.map(({ holds }) => holds))}`

  function allOf(parts: SqlPart[]): SqlPart {
    return parts.reduce((all, part) => tx`${all} and ${part}`)
  }
}

/** The column that a list is sorted by. Ids are in the order of `createdAt`. */
const COLUMN = { createdAt: 'id', updatedAt: 'updated_at', name: 'name_words' }

/**
 * The ids of one page, in one statement, as lists of products are read (decision 010). The index is read from the beginning of the list,
 * and the customers before the page are skipped. Pages in the second half of a list are read backwards from its end where the count is
 * kept: the statement counts the list again, since `total` may be old.
 */
export async function pageOfIds(
  tx: Transaction,
  conditions: Conditions,
  total: number,
  { sort, order, size, offset }: PageWanted,
): Promise<string[]> {
  if (offset >= total) return []
  const workspace = tx.context.workspaceId
  const count = countOf(conditions)
  const isBackwards = count !== undefined && offset > total / 2
  const way = (order === 'asc') === isBackwards ? tx`desc` : tx`asc`
  const skipped = isBackwards ? tx`(select greatest(total - ${offset + size}, 0) from counted)` : tx`${offset}::bigint`
  const taken = isBackwards
    ? tx`(select greatest(least(${size}, total - ${offset}), 0) from counted)`
    : tx`${size}::bigint`
  const column = tx(COLUMN[sort])
  const key = sort === 'createdAt' ? tx`id` : tx`id, ${column}`
  const listed = conditions[0].isAny
    ? tx`select ${key} from customer where workspace_id = ${workspace}`
    : scannedOrFound()
  const rows = await tx<{ id: string }[]>`
    with counted as (select ${count ?? tx`null`} as total)
    ${listed} order by ${column} ${way}, id ${way} limit ${taken} offset ${skipped}`
  const ids = rows.map(({ id }) => id)
  return isBackwards ? ids.reverse() : ids

  /**
   * All customers are scanned in order until enough of them meet the conditions: quick where many do. The scan stops once it has cost
   * as much as finding all matching customers; then these are found and sorted instead.
   */
  function scannedOrFound() {
    const found =
      sort === 'createdAt'
        ? matching(tx, conditions)
        : tx`
          select ${key} from customer
          where workspace_id = ${workspace} and id = any(array(${matching(tx, conditions)}))`
    const reached = tx`${skipped} + ${taken}`
    return tx`, scanned as materialized (
        select ${key} from (
          select id, updated_at, name_words, search_words, email_key from customer where workspace_id = ${workspace}
          order by ${column} ${way}, id ${way} limit ${Math.ceil(total * scannedPerFound(sort, conditions))}
        ) as customer
        where ${conditions.reduce((all, { holds }) => tx`${all} and ${holds}`, tx`true`)}
        order by ${column} ${way}, id ${way} limit ${reached}
      )
      select id from (
        select ${key} from scanned where (select count(*) from scanned) = ${reached}
        union all
        select ${key} from (${found}) as found where (select count(*) from scanned) < ${reached}
      ) as listed`
  }
}

/**
 * The number of customers that a scan can pass for the cost of finding one through its words, as measured for products. By `createdAt`
 * finding is cheap: ids are sorted without a look-up of their customers. With several words it is dear: it joins.
 */
const scannedPerFound = (sort: PageWanted['sort'], conditions: Conditions) =>
  conditions.length > 1 ? 1 : sort === 'createdAt' ? 0.1 : 0.3
