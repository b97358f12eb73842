import { type ListQuery, listView, pageOf } from '@backoffice/contracts/pagination.ts'
import type { SqlPart } from '../comma-separated.ts'
import type { AnySql } from '../database.ts'
import { isBehind, type ListOrder, NEWEST_FIRST, orderBy, refuseUnknown } from './list-page.ts'

/** A list as parts of statements. */
interface List extends Partial<ListOrder> {
  readonly columns: SqlPart
  /** From `from` up to the end of the conditions. A list that takes `after` has conditions. */
  readonly source: SqlPart
}

/** Reads a page of a list, newest first unless told otherwise, and counts the list; sent together (OP-03). */
export async function countedPage<Row extends object>(
  sql: AnySql,
  query: ListQuery,
  { columns, source, ...order }: List,
) {
  const page = { ...pageOf(query), ...NEWEST_FIRST, ...order }
  const behind = query.after === undefined ? sql`` : sql`and ${isBehind(sql, page, source)}`
  const [[counted], rows] = await Promise.all([
    sql<[{ count: number }]>`select count(*) ${source}`,
    sql<Row[]>`select ${columns} ${source} ${behind} ${orderBy(sql, page)} limit ${page.taken} offset ${page.offset}`,
    refuseUnknown(sql, page, source),
  ])
  return listView(query, counted.count, rows)
}
