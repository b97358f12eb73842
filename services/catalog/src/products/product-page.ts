import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { Condition, ProductSort } from './product-filters.ts'

/** The conditions of a list of products: a product meets all of them. */
export type Conditions = readonly [Condition, ...Condition[]]

/** A page of a list and the order of the list. Products with equal keys are in the order of their ids, so that pages never overlap. */
export interface PageWanted {
  readonly sort: ProductSort
  readonly order: 'asc' | 'desc'
  readonly size: number
  readonly offset: number
}

/** The number of products that meet the conditions. */
export async function countProducts(tx: Transaction, conditions: Conditions): Promise<number> {
  const count = countOf(conditions) ?? tx`(select count(*) from (${matching(tx, conditions)}) as match)`
  const [row] = await tx<{ total: number }[]>`select ${count} as total`
  return row?.total ?? 0
}

/** The cheap count, which only a single condition has. */
const countOf = ([first, ...others]: Conditions) => (others.length === 0 ? first.count : undefined)

/** The ids of the products that meet all conditions. */
const matching = (tx: Transaction, [first, ...others]: Conditions) => tx`
  select id from (${first.ids}) as candidate
  where ${others.reduce((all, { ids }) => tx`${all} and id in (${ids})`, tx`true`)}`

/** The column that a list is sorted by. Ids are in the order of `createdAt`. */
const COLUMN = { createdAt: 'id', updatedAt: 'updated_at', name: 'name_words' }

/**
 * The ids of one page, in one statement. The index is read from the beginning of the list, and the products before the page are
 * skipped. Pages in the second half of a list of `total` products are read backwards from its end where the count is cheap: the
 * statement counts the list again, since `total` may be old.
 */
export async function pageOfIds(
  tx: Transaction,
  conditions: Conditions,
  total: number,
  { sort, order, size, offset }: PageWanted,
): Promise<string[]> {
  if (offset >= total) return []
  const count = countOf(conditions)
  const isBackwards = count !== undefined && offset > total / 2
  const way = (order === 'asc') === isBackwards ? tx`desc` : tx`asc`
  const skipped = isBackwards ? tx`(select greatest(total - ${offset + size}, 0) from counted)` : tx`${offset}::bigint`
  const taken = isBackwards
    ? tx`(select greatest(least(${size}, total - ${offset}), 0) from counted)`
    : tx`${size}::bigint`
  const column = tx(COLUMN[sort])
  const [first, ...others] = conditions
  const listed =
    others.length === 0 && first.ordered?.by.includes(sort)
      ? tx`select id from (${first.ordered.rows(way)}) as listed`
      : scannedOrFound(tx, conditions, sort, { way, total, reached: tx`${skipped} + ${taken}` })
  const rows = await tx<{ id: string }[]>`
    with counted as (select ${count ?? tx`null`} as total)
    ${listed} order by ${column} ${way}, id ${way} limit ${taken} offset ${skipped}`
  const ids = rows.map(({ id }) => id)
  return isBackwards ? ids.reverse() : ids
}

/**
 * How many products a scan can pass at the cost of finding one by the indexes of the conditions (measured). Finding is cheap by
 * `createdAt`, since ids are sorted without reading their products, and expensive with several conditions, since it joins.
 */
const scannedPerFound = (sort: ProductSort, conditions: Conditions) =>
  conditions.length > 1 ? 1 : sort === 'createdAt' ? 0.1 : 0.3

interface Scan {
  readonly way: SqlPart
  readonly total: number
  /** The number of products that are needed from the beginning of the list: the skipped ones and the page. */
  readonly reached: SqlPart
}

/**
 * A list that no index holds in order. All products are scanned in order until enough of them meet the conditions: quick where many
 * do. The scan stops once it has cost as much as finding all matching products; then these are found and sorted instead.
 */
function scannedOrFound(tx: Transaction, conditions: Conditions, sort: ProductSort, { way, total, reached }: Scan) {
  const workspace = tx.context.workspaceId
  const column = tx(COLUMN[sort])
  const key = sort === 'createdAt' ? tx`id` : tx`id, ${column}`
  const found =
    sort === 'createdAt'
      ? matching(tx, conditions)
      : tx`
        select ${key} from product
        where workspace_id = ${workspace} and id = any(array(${matching(tx, conditions)}))`
  return tx`, scanned as materialized (
      select ${key} from (
        select id, status, type, updated_at, name_words from product where workspace_id = ${workspace}
        order by ${column} ${way}, id ${way} limit ${Math.ceil(total * scannedPerFound(sort, conditions))}
      ) as product
      where ${conditions.reduce((all, { holds }) => tx`${all} and ${holds}`, tx`true`)}
      order by ${column} ${way}, id ${way} limit ${reached}
    )
    select id from (
      select ${key} from scanned where (select count(*) from scanned) = ${reached}
      union all
      select ${key} from (${found}) as found where (select count(*) from scanned) < ${reached}
    ) as listed`
}
