import { unprocessable } from '@backoffice/contracts/errors.ts'
import { type ListQuery, pageOf, type SortedByTimeOrName } from '@backoffice/contracts/pagination.ts'
import type { z } from 'zod'
import { commaSeparated, type SqlPart } from '../comma-separated.ts'
import type { AnySql } from '../database.ts'

/** The columns that lists are sorted by. Ids are in the order of `createdAt`. */
const COLUMNS = {
  createdAt: 'id',
  created_at: 'id',
  updatedAt: 'updated_at',
  updated_at: 'updated_at',
  name: 'name_words',
} as const
export type SortColumn = (typeof COLUMNS)[keyof typeof COLUMNS]

/** The order of a list. */
export interface ListOrder {
  /** Columns; the last one is unique, so that pages never overlap. */
  readonly by: readonly string[]
  readonly isAscending: boolean
}

export const NEWEST_FIRST: ListOrder = { by: ['id'], isAscending: false }

/** A page of a list in an order. */
export type ListPage = ReturnType<typeof pageOf> & ListOrder

type SortedQuery = ListQuery & z.output<z.ZodObject<typeof SortedByTimeOrName>>

/** The page that a query asks for, of a list that is sorted as the query says. */
export function sortedPage({ sort_by, sort_order, ...query }: SortedQuery) {
  const sort: SortColumn = COLUMNS[sort_by]
  return { ...pageOf(query), sort, by: sort === 'id' ? [sort] : [sort, 'id'], isAscending: sort_order === 'asc' }
}
export type SortedPage = ReturnType<typeof sortedPage>

function columnsOf(sql: AnySql, by: readonly string[], way = sql``): SqlPart {
  const columns = by.map((column) => sql`${sql(column)} ${way}`)
  return commaSeparated(sql, columns)
}

export const orderBy = (sql: AnySql, { by, isAscending }: ListOrder): SqlPart =>
  sql`order by ${columnsOf(sql, by, isAscending ? sql`asc` : sql`desc`)}`

/**
 * The condition that a row comes behind the item `after`, at the place that the item has now; true for a page without
 * it. An index with the columns of the order begins there. `all` is `from` and the conditions of the items that `after`
 * may name.
 */
export function isBehind(sql: AnySql, { by, isAscending, after }: ListPage, all: SqlPart): SqlPart {
  if (after === undefined) return sql`true`
  const columns = columnsOf(sql, by)
  const place =
    by.length === 1 ? sql`${after}` : sql`(select ${columns} ${all} and ${columnsOf(sql, by.slice(-1))} = ${after})`
  return sql`(${columns}) ${isAscending ? sql`>` : sql`<`} ${place}`
}

/** Throws `unprocessable` for an `after` that is not among all items: an empty page would look like the end (OP-03). */
export async function refuseUnknown(sql: AnySql, { by, after }: ListPage, all: SqlPart): Promise<void> {
  if (after === undefined) return
  const found = await sql`select ${all} and ${columnsOf(sql, by.slice(-1))} = ${after}`
  if (found.length === 0) throw unknownItem(after)
}

export const unknownItem = (after: string, list = 'this list has no item') =>
  unprocessable(['after'], `${list} ${after}; start again without it`, 'unknown_reference')
