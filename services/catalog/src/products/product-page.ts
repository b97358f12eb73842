import type { Transaction } from '@backoffice/postgres/database.ts'
import type { Condition, Fragment, ProductSort } from './product-filters.ts'

/** The conditions of a list of products: a product meets all of them. */
export type Conditions = readonly [Condition, ...Condition[]]

/** Which part of a list, in which order. Equal keys go by id, in the same direction, so that pages never overlap. */
export interface PageWanted {
  readonly sort: ProductSort
  readonly order: 'asc' | 'desc'
  readonly size: number
  readonly offset: number
}

/** How many products meet the conditions. */
export async function countProducts(tx: Transaction, conditions: Conditions): Promise<number> {
  const count = countOf(conditions) ?? tx`(select count(*) from (${matching(tx, conditions)}) as match)`
  const [row] = await tx<{ total: number }[]>`select ${count} as total`
  return row?.total ?? 0
}

/** A count that costs little is known for single conditions only. */
const countOf = ([first, ...others]: Conditions) => (others.length === 0 ? first.count : undefined)

/** The ids of the products that meet all conditions. */
const matching = (tx: Transaction, [first, ...others]: Conditions) => tx`
  select id from (${first.ids}) as candidate
  where ${others.reduce((all, { ids }) => tx`${all} and id in (${ids})`, tx`true`)}`

/** By createdAt a list goes by id: ids are made in the order of time. */
const COLUMN = { createdAt: 'id', updatedAt: 'updated_at', name: 'name_words' }

/**
 * The ids of one page, in one statement. What precedes the page is passed over in the index. Beyond the middle of a list of
 * `total` products what follows it is, backwards from the end of the list as this statement counts it.
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
      : walkedOrFound(tx, conditions, sort, { way, total, reached: tx`${skipped} + ${taken}` })
  const rows = await tx<{ id: string }[]>`
    with counted as (select ${count ?? tx`null`} as total)
    ${listed} order by ${column} ${way}, id ${way} limit ${taken} offset ${skipped}`
  const ids = rows.map(({ id }) => id)
  return isBackwards ? ids.reverse() : ids
}

/**
 * Past how many products one can walk for what it costs to find one of a list: least by createdAt, where what was found need
 * not be looked up to be sorted, and most for several conditions, which finding joins.
 */
const walkFor = (sort: ProductSort, conditions: Conditions) =>
  conditions.length > 1 ? 1 : sort === 'createdAt' ? 0.1 : 0.3

interface Walk {
  readonly way: Fragment
  readonly total: number
  /** How many products of the list are needed, from its beginning. */
  readonly reached: Fragment
}

/**
 * A list that no index has in order. The order of all products is walked until enough have met the conditions, which ends soon
 * unless they are few or far. Where finding them all costs no more than the walk has, they are found and sorted instead.
 */
function walkedOrFound(tx: Transaction, conditions: Conditions, sort: ProductSort, { way, total, reached }: Walk) {
  const workspace = tx.context.workspaceId
  const column = tx(COLUMN[sort])
  const key = sort === 'createdAt' ? tx`id` : tx`id, ${column}`
  const found =
    sort === 'createdAt'
      ? matching(tx, conditions)
      : tx`
        select ${key} from product
        where workspace_id = ${workspace} and id = any(array(${matching(tx, conditions)}))`
  return tx`, walked as materialized (
      select ${key} from (
        select id, status, type, updated_at, name_words from product where workspace_id = ${workspace}
        order by ${column} ${way}, id ${way} limit ${Math.ceil(total * walkFor(sort, conditions))}
      ) as product
      where ${conditions.reduce((all, { holds }) => tx`${all} and ${holds}`, tx`true`)}
      order by ${column} ${way}, id ${way} limit ${reached}
    )
    select id from (
      select ${key} from walked where (select count(*) from walked) = ${reached}
      union all
      select ${key} from (${found}) as found where (select count(*) from walked) < ${reached}
    ) as listed`
}
