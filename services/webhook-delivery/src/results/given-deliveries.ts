import type { Fragment, Sql } from '@backoffice/postgres/database.ts'

/**
 * The condition that a delivery is the one of a row of `given`, which has `workspace_id`, `endpoint_id`, `delivery_id`
 * and `event_id`. `eventIds` are those of all its rows. Their bounds limit the partitions; they are written with `or`,
 * so that no index scan runs over everything between them.
 *
 * The key is compared as a row, with >= and <=. That uses the primary key, whatever was in the table when the plan was
 * made. And it chooses no partition by each row of `given`: that would pass over a delivery that another transaction
 * has just changed (decision 019).
 */
export function isGiven(sql: Sql, given: Fragment, eventIds: readonly string[]): Fragment {
  // They are in lower case (`Id`), so PostgreSQL has the same order.
  const sorted = eventIds.toSorted()
  const [least, greatest] = [sorted[0] ?? null, sorted.at(-1) ?? null]
  const own = sql`(delivery.workspace_id, delivery.endpoint_id, delivery.id, delivery.event_id)`
  const wanted = sql`(${given}.workspace_id, ${given}.endpoint_id, ${given}.delivery_id, ${given}.event_id)`
  return sql`
    (delivery.event_id = ${least} or (delivery.event_id > ${least} and delivery.event_id <= ${greatest}))
    and ${own} >= ${wanted} and ${own} <= ${wanted}`
}

/** The condition that a delivery is not over. It is a function, so that no index of what is due serves it. */
export const isOpen = (sql: Sql): Fragment => sql`num_nulls(delivery.due_at) = 0`

/** The order in which results and marks are written: in different ones two statements would wait for each other. */
export const inOrder = <Given extends { readonly delivery_id: string }>(given: readonly Given[]): Given[] =>
  given.toSorted((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1))
