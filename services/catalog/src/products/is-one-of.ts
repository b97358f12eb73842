import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * One of these values. In a join, compare the column of the table with it too: else PostgreSQL may read all of the
 * workspace's rows. The subquery hides the number of values from the planner, so that it keeps one plan and does not
 * plan each run anew.
 */
export const isOneOf = (tx: Transaction, values: readonly string[], type: 'uuid' | 'text' = 'uuid') =>
  tx`= any(array(select unnest(${values as string[]}::${tx.unsafe(type)}[])))`
