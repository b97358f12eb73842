import { TOPICS } from '@backoffice/contracts/events.ts'
import { ORDER } from '@backoffice/contracts/order.ts'
import { REFUND } from '@backoffice/contracts/refund.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { type WorkInTurn, workInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'

/** Settings of its connections. An erasure leaves a locked row for later, so that others do not wait. */
export const ERASURE_SETTINGS = { ...PLAN_EACH_TIME, lock_timeout: '1s' }

const EVERY_MS = 1000
/** Orders, or answers, looked at in one batch: a record names these orders. */
const BATCH_SIZE = 500
/** Stored bytes of the answers of a batch, but for its last; text has a few times as many. */
const ANSWERS_BYTES = 1024 * 1024
/** Import batches looked at in one batch: a few hundred changes each. */
const IMPORT_BATCHES = 20
/** Customers that one pass over the import batches, or over the answers, looks for. */
const CUSTOMERS_TOGETHER = 50

/**
 * Removes the personal data of erased customers, a batch of one workspace after the other (OP-130). A batch is a
 * transaction: a process that ends loses no more than one.
 */
export const eraseCustomers = (options: Pick<WorkInTurn, 'db' | 'worker' | 'logger'>) =>
  workInTurn({
    ...options,
    name: 'erasures',
    everyMs: EVERY_MS,
    afterRoundMs: 0,
    // Services alone read what it publishes, and make no difference between modes.
    waiting: () => options.worker.sql`
      select workspace_id as "workspaceId", true as livemode, '' as traceparent
      from customer_erasure where stage <> 'DONE'`,
    work: (tx) => eraseBatch(tx, currentTime()),
  })

/**
 * Works on one batch of the transaction's workspace: some orders of one erased customer, some changes of imports, or
 * some answers. In this order, so that one pass over the changes, or the answers, serves many customers. Returns false
 * when there is nothing to do, or when all of it is locked.
 */
export async function eraseBatch(tx: Transaction, now: Date): Promise<boolean> {
  const [open] = await tx<{ id: string; stage: 'ORDERS' | 'CHANGES' | 'ANSWERS' }[]>`
    select id, stage from customer_erasure
    where workspace_id = ${tx.context.workspaceId} and stage <> 'DONE'
    order by stage desc, id -- ORDERS, CHANGES, ANSWERS
    limit 1 for update skip locked`
  if (open === undefined) return false
  if (open.stage === 'ORDERS') return eraseOrders(tx, open.id, now)
  await (open.stage === 'CHANGES' ? eraseChanges(tx) : eraseAnswers(tx, now))
  return true
}

/**
 * Removes the personal data of some orders that an erased customer has or had: personal members, the stored form, what
 * their payments have as metadata, the reasons of their refunds, and last the customer's id, by which they are found.
 * Members, payments and refunds of an order that has another customer by now are his, and stay. Money and lines stay,
 * and invoices keep their buyer: their number is noted (OP-217, OP-218). Orders that a request has locked come later.
 * Once there is none left, the stage of the erasure is CHANGES. Returns false when all that is left is locked.
 * customer.erased names the orders, and has the time of their last change: what was published of them until then, while
 * they had no customer, has his data, too.
 */
async function eraseOrders(tx: Transaction, customer: string, now: Date): Promise<boolean> {
  const workspace = tx.context.workspaceId
  const locked = await lockOrders(tx, customer)
  if (locked.length > 0) {
    const ids = locked.map(({ id }) => id)
    const withoutAnother = locked.filter(({ hasAnother }) => !hasAnother).map(({ id }) => id)
    await tx`update order_form set form = '{}' where workspace_id = ${workspace} and order_id = any(${ids}::uuid[])`
    await tx`
      update payment set metadata = '{}'
      where workspace_id = ${workspace} and order_id = any(${withoutAnother}::uuid[])`
    await tx`
      update refund set ${tx.unsafe(REFUND.sql.erasures)}
      where workspace_id = ${workspace} and order_id = any(${withoutAnother}::uuid[])`
    await tx`
      update customer_erasure set invoices = invoices + (
        select count(*) from invoice where workspace_id = ${workspace} and order_id = any(${withoutAnother}::uuid[])
      )
      where workspace_id = ${workspace} and id = ${customer}`
    await tx`
      update sales_order set
        ${tx.unsafe(ORDER.sql.erasures)}, customer_id = null, updated_at = greatest(updated_at, ${now})
      where workspace_id = ${workspace} and id = any(${withoutAnother}::uuid[])`
    // The time of this statement: answers of transactions that had the lock before are older.
    const [{ lastChange }] = await tx<[{ lastChange: Date }]>`
      with erased as (
        update sales_order set erased_at = clock_timestamp()
        where workspace_id = ${workspace} and id = any(${ids}::uuid[])
        returning updated_at
      )
      select max(updated_at) as "lastChange" from erased`
    await tx`
      delete from former_customer
      where workspace_id = ${workspace} and customer_id = ${customer} and order_id = any(${ids}::uuid[])`
    await publish(
      tx,
      [outboxRecord(TOPICS.ordersErasures, 'customer.erased', customer, { id: customer, orders: ids })],
      lastChange,
    )
    return true
  }
  const { count } = await tx`
    update customer_erasure set stage = 'CHANGES'
    where workspace_id = ${workspace} and id = ${customer}
      and not exists (select from sales_order where workspace_id = ${workspace} and customer_id = ${customer})
      and not exists (select from former_customer where workspace_id = ${workspace} and customer_id = ${customer})`
  return count > 0
}

/**
 * Locks some orders of a customer; once there is none, some that he had, and whether they have another customer by now.
 * A request reads its order after it has locked it, so it never writes back what is removed here.
 */
async function lockOrders(tx: Transaction, customer: string) {
  const workspace = tx.context.workspaceId
  const present = await tx<{ id: string; hasAnother: boolean }[]>`
    select id, false as "hasAnother" from sales_order
    where workspace_id = ${workspace} and customer_id = ${customer}
    order by id limit ${BATCH_SIZE} for update skip locked`
  if (present.length > 0) return present
  return tx<{ id: string; hasAnother: boolean }[]>`
    select id, sales_order.customer_id is not null as "hasAnother"
    from former_customer join sales_order on sales_order.workspace_id = ${workspace} and sales_order.id = order_id
    where former_customer.workspace_id = ${workspace} and former_customer.customer_id = ${customer}
    order by order_id limit ${BATCH_SIZE} for update of sales_order skip locked`
}

/**
 * Removes erased customers from some of the changes that are kept for the undo of imports (OP-151), for all customers
 * whose passes are at the same batch. At the end of the pass it removes those that an undo has collected meanwhile, and
 * the stage is ANSWERS. Imports that come later do not find the customers, so they change none.
 */
async function eraseChanges(tx: Transaction): Promise<void> {
  const workspace = tx.context.workspaceId
  const [first, ...others] = await tx<{ id: string; import: string; batch: string }[]>`
    select id, changes_after_import as import, changes_after_batch as batch from customer_erasure
    where workspace_id = ${workspace} and stage = 'CHANGES'
    order by id limit ${CUSTOMERS_TOGETHER} for update skip locked`
  if (first === undefined) return
  const isTogether = (other: typeof first) => other.import === first.import && other.batch === first.batch
  const customers = [first, ...others.filter(isTogether)].map(({ id }) => id)
  const [looked] = await tx<{ count: number; last: { import: string; batch: string } | null }[]>`
    with looked as materialized (
      select import_id, id, changes from imported_batch
      where workspace_id = ${workspace} and (import_id, id) > (${first.import}::uuid, ${first.batch}::bigint)
      order by import_id, id limit ${IMPORT_BATCHES}
    ), removed as (
      update imported_batch set changes = (
        select coalesce(json_agg(change order by place), '[]')
        from json_array_elements(looked.changes) with ordinality as changes (change, place)
        where change ->> 'id' <> all(${customers}::text[])
      )
      from looked
      where workspace_id = ${workspace}
        and imported_batch.import_id = looked.import_id and imported_batch.id = looked.id
        and exists (select from unnest(${customers}::text[]) as customer (id) where strpos(looked.changes::text, customer.id) > 0)
    )
    select count(*), (array_agg(json_build_object('import', import_id, 'batch', id::text) order by import_id desc, id desc))[1] as last
    from looked`
  const isAtTheEnd = (looked?.count ?? 0) < IMPORT_BATCHES
  if (isAtTheEnd) {
    // After the update above, which waits for an undo that takes one of these batches.
    await tx`
      delete from undone_change using undone_import
      where undone_import.workspace_id = ${workspace} and undone_change.workspace_id = ${workspace}
        and undone_change.import_id = undone_import.import_id and undone_change.id = any(${customers}::uuid[])`
  }
  const { import: importId, batch } = looked?.last ?? first
  await tx`
    update customer_erasure set
      changes_after_import = ${importId}, changes_after_batch = ${batch}, stage = ${isAtTheEnd ? 'ANSWERS' : 'CHANGES'}
    where workspace_id = ${workspace} and id = any(${customers}::uuid[])`
}

/**
 * Removes some stored answers (OP-08) that name erased customers or are about their orders: a repeated Idempotency-Key
 * is then answered `conflict`. One batch of the workspace's keys, which are kept for 24 hours, serves all customers
 * whose passes are at the same key. Their erasures are done at the end of the pass: new answers have no data of theirs,
 * since their orders have none.
 */
async function eraseAnswers(tx: Transaction, now: Date): Promise<void> {
  const workspace = tx.context.workspaceId
  const [first, ...others] = await tx<{ id: string; after: string }[]>`
    select id, answers_after as after from customer_erasure
    where workspace_id = ${workspace} and stage = 'ANSWERS'
    order by id limit ${CUSTOMERS_TOGETHER} for update skip locked`
  if (first === undefined) return
  const customers = [first, ...others.filter(({ after }) => after === first.after)].map(({ id }) => id)
  const [looked] = await tx<{ isAtTheEnd: boolean; last: string }[]>`
    with next as materialized (
      select key, sum(bytes) over (order by key) - bytes < ${ANSWERS_BYTES} as is_looked
      from (
        select key, coalesce(pg_column_size(body), 0) as bytes from idempotency_key
        where workspace_id = ${workspace} and key > ${first.after}
        order by key limit ${BATCH_SIZE}
      ) as sized
    ), looked as materialized (
      select key, body, body::text as text, created_at from idempotency_key join next using (key)
      where workspace_id = ${workspace} and is_looked
    ), personal as (
      select key, 'customer ' || id as resource
      from looked join unnest(${customers}::text[]) as id on strpos(text, id) > 0
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
    select count(*) < ${BATCH_SIZE} and coalesce(bool_and(is_looked), true) as "isAtTheEnd", max(key) filter (where is_looked) as last
    from next`
  const isAtTheEnd = looked?.isAtTheEnd ?? true
  await tx`
    update customer_erasure set
      answers_after = ${looked?.last ?? first.after},
      stage = ${isAtTheEnd ? 'DONE' : 'ANSWERS'}, done_at = ${isAtTheEnd ? now : null}
    where workspace_id = ${workspace} and id = any(${customers}::uuid[])`
}
