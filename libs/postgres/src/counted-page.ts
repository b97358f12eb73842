import { type PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import type { SqlPart } from './comma-separated.ts'
import type { AnySql } from './database.ts'

/** A list as parts of statements. */
interface List {
  readonly columns: SqlPart
  /** From `from` up to the end of the conditions. */
  readonly source: SqlPart
  readonly order: SqlPart
}

/** Reads a page of a list and counts the whole list, with two statements that are sent together (OP-03). */
export async function countedPage<Row extends object>(sql: AnySql, query: PageQuery, { columns, source, order }: List) {
  const { page, size, offset } = pageOf(query)
  const [[counted], rows] = await Promise.all([
    sql<[{ count: number }]>`select count(*) ${source}`,
    sql<Row[]>`select ${columns} ${source} order by ${order} limit ${size} offset ${offset}`,
  ])
  return pageView(page, size, counted.count, [...rows])
}
