import type { Transaction } from '@backoffice/postgres/database.ts'

/** Answers looked at in one batch. */
const BATCH_SIZE = 500
/** Customers that one pass over the answers looks for. */
const CUSTOMERS_TOGETHER = 50

/**
 * Removes some stored answers (OP-08) that name erased customers or are about their orders: a repeated Idempotency-Key
 * is then answered `conflict`. One batch of the workspace's keys, which are kept for 24 hours, serves all customers
 * whose passes are at the same key. Their erasures are done at the end of the pass: new answers have no data of theirs,
 * since their orders have none.
 */
export async function eraseAnswers(tx: Transaction, now: Date): Promise<void> {
  const workspace = tx.context.workspaceId
  const [first, ...others] = await tx<{ id: string; after: string }[]>`
    select id, answers_after as after from customer_erasure
    where workspace_id = ${workspace} and stage = 'ANSWERS'
    order by id limit ${CUSTOMERS_TOGETHER} for update skip locked`
  if (first === undefined) return
  const customers = [first, ...others.filter(({ after }) => after === first.after)].map(({ id }) => id)
  const [looked] = await tx<{ count: number; last: string }[]>`
    with looked as materialized (
      select key, body, created_at from idempotency_key
      where workspace_id = ${workspace} and key > ${first.after}
      order by key limit ${BATCH_SIZE}
    ), personal as (
      select key, 'customer ' || id as resource
      from looked join unnest(${customers}::text[]) as id on strpos(body::text, id) > 0
      union all
      -- Answers about an order have its id, or name it.
      select key, made || sales_order.id
      from looked
      cross join lateral (
        values ('order ', body ->> 'id'), ('a change of order ', body ->> 'order')
      ) as reference (made, id)
      join sales_order on sales_order.workspace_id = ${workspace}
        and sales_order.id = case when pg_input_is_valid(reference.id, 'uuid') then reference.id::uuid end
        and looked.created_at <= sales_order.erased_at
    ), removed as (
      update idempotency_key set body = null, resource = named.resource
      from (select distinct on (key) key, resource from personal order by key, resource desc) as named
      where workspace_id = ${workspace} and idempotency_key.key = named.key
    )
    select count(*), max(key) as last from looked`
  const isAtTheEnd = (looked?.count ?? 0) < BATCH_SIZE
  await tx`
    update customer_erasure set
      answers_after = ${looked?.last ?? first.after},
      stage = ${isAtTheEnd ? 'DONE' : 'ANSWERS'}, done_at = ${isAtTheEnd ? now : null}
    where workspace_id = ${workspace} and id = any(${customers}::uuid[])`
}
