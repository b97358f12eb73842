import type postgres from 'postgres'
import type { AnySql } from './database.ts'

export type SqlPart = postgres.PendingQuery<postgres.Row[]>

/** Several parts of a statement as a list: columns of a select, common table expressions. */
export const commaSeparated = (sql: AnySql, parts: readonly SqlPart[]): SqlPart =>
  parts.reduce((list, part) => sql`${list}, ${part}`)
