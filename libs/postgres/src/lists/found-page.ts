import type { SqlPart } from '../comma-separated.ts'
import type { Transaction } from '../database.ts'
import { type Condition, isAny, type ListedTable } from './conditions.ts'
import { isBehind, orderBy, refuseUnknown, type SortColumn, type SortedPage } from './list-page.ts'

export type Conditions = readonly [Condition, ...Condition[]]

/** A page of the ids of the items that meet all conditions, and their number, by two statements, with `after` three. */
export async function foundPage(
  tx: Transaction,
  list: ListedTable,
  [first = isAny(tx, list), ...others]: readonly Condition[],
  page: SortedPage,
) {
  const conditions: Conditions = [first, ...others]
  const count = countOf(conditions) ?? tx`(select count(*) from (${matching(tx, list, conditions)}) as match)`
  const [[{ total }]] = await Promise.all([
    tx<[{ total: number }]>`select ${count} as total`,
    refuseUnknown(tx, page, tx`from ${tx(list.table)} where workspace_id = ${tx.context.workspaceId}`),
  ])
  return { total, ids: await pageOfIds(tx, list, conditions, total, page) }
}

/** The cheap count, which only a single condition has. */
const countOf = ([first, ...others]: Conditions) => (others.length === 0 ? first.count : undefined)

/** Where it is known that at most this many items meet the first condition, their rows are read for the others. */
const SORT_LIMIT = 10_000

/** A query for the ids of the items that meet all conditions. */
export function matching(tx: Transaction, { table }: ListedTable, [first, ...others]: Conditions): SqlPart {
  if (others.length === 0) return first.ids
  if (first.items !== undefined && first.items <= SORT_LIMIT) {
    return tx`
      select id from ${tx(table)}
      where workspace_id = ${tx.context.workspaceId} and id = any(array(${first.ids})) and ${allHold(tx, others)}`
  }
  const candidates = tx`select id from (${first.ids}) as candidate where true`
  return others.reduce((all, { ids }) => tx`${all} and id in (${ids})`, candidates)
}

/** An expression: whether a row of the list's table meets all conditions. */
export const allHold = (tx: Transaction, conditions: readonly Condition[]) =>
  conditions.reduce((all, { holds }) => tx`${all} and ${holds}`, tx`true`)

/**
 * The ids of one page, in one statement. The index is read from the beginning of the list, and the items before the
 * page are skipped; after an item, the index is read from there. Pages in the second half of a list of `total` items
 * are read backwards from its end where the count is cheap: the statement counts the list again, since `total` may be
 * old.
 */
export async function pageOfIds(
  tx: Transaction,
  list: ListedTable,
  conditions: Conditions,
  total: number,
  page: SortedPage,
): Promise<string[]> {
  const { sort, isAscending, offset, taken } = page
  if (offset >= total) return []
  const count = countOf(conditions)
  const isBackwards = count !== undefined && offset > total / 2
  const [first, ...others] = conditions
  const [skip, limit] = isBackwards
    ? [
        tx`(select greatest(total - ${offset + taken}, 0) from counted)`,
        tx`(select greatest(least(${taken}, total - ${offset}), 0) from counted)`,
      ]
    : [tx`${offset}::bigint`, tx`${taken}::bigint`]
  const order = { ...page, isAscending: isAscending !== isBackwards }
  const behind = isBehind(tx, page, tx`from ${tx(list.table)} where workspace_id = ${tx.context.workspaceId}`)
  const way = order.isAscending ? tx`asc` : tx`desc`
  const listed =
    others.length === 0 && first.ordered?.by.includes(sort)
      ? tx`select id from (${first.ordered.rows(way)}) as listed where ${behind}`
      : scannedOrFound(tx, list, conditions, order, { total, behind, reached: tx`${skip} + ${limit}` })
  const rows = await tx<{ id: string }[]>`
    with counted as (select ${count ?? tx`null`} as total)
    ${listed} ${orderBy(tx, order)} limit ${limit} offset ${skip}`
  const ids = rows.map(({ id }) => id)
  return isBackwards ? ids.reverse() : ids
}

/**
 * How many items a scan can pass at the cost of finding one by the indexes of the conditions (measured). Finding is
 * cheap by `createdAt`, since ids are sorted without reading their items, and expensive with several conditions, since
 * it joins.
 */
const scannedPerFound = (sort: SortColumn, conditions: Conditions) =>
  conditions.length > 1 ? 1 : sort === 'id' ? 0.1 : 0.3

/**
 * A list that no index holds in order. All items are scanned in order until as many as are to be `reached` meet the
 * conditions: quick where many do. The scan stops once it has cost as much as finding all matching items; then these
 * are found and sorted instead.
 */
function scannedOrFound(
  tx: Transaction,
  list: ListedTable,
  conditions: Conditions,
  order: SortedPage,
  { total, behind, reached }: { total: number; behind: SqlPart; reached: SqlPart },
): SqlPart {
  const all = tx`${tx(list.table)} where workspace_id = ${tx.context.workspaceId}`
  const matches = matching(tx, list, conditions)
  const key = order.sort === 'id' ? tx`id` : tx`id, ${tx(order.sort)}`
  const found = order.sort === 'id' ? matches : tx`select ${key} from ${all} and id = any(array(${matches}))`
  return tx`, scanned as materialized (
      select ${key} from (
        select * from ${all} and ${behind}
        ${orderBy(tx, order)} limit ${Math.ceil(total * scannedPerFound(order.sort, conditions))}
      ) as ${tx(list.table)}
      where ${allHold(tx, conditions)} ${orderBy(tx, order)} limit ${reached}
    )
    select id from (
      select ${key} from scanned where (select count(*) from scanned) = ${reached}
      union all
      select ${key} from (${found}) as found where (select count(*) from scanned) < ${reached} and ${behind}
    ) as listed`
}
