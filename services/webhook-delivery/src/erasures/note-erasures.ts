import { RECORDS, TOPICS } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { z } from 'zod'

const erased = RECORDS[TOPICS.ordersErasures]['customer.erased'].shape

/** A customer.erased record as it is read here: members of later releases are passed over. */
const ErasedRecord = z.object({ ...erased, data: z.object(erased.data.shape) })
type ErasedRecord = z.output<typeof ErasedRecord>

/**
 * Notes whose personal data the erasure worker removes (OP-139), and of which orders: then it makes its passes anew. A
 * repeated record makes no more of them.
 */
export const noteErasures: ConsumerDefinition<ErasedRecord> = {
  name: 'webhook-delivery.erasures',
  topics: [TOPICS.ordersErasures],
  schema: ErasedRecord,
  isEachIndependent: true,
  async handle(records, tx) {
    const named = records.flatMap(({ value: { workspace_id: workspaceId, occurred_at: at, data } }) =>
      (data.orders ?? []).map((orderId) => ({ workspaceId, orderId, customerId: data.id, at })),
    )
    await tx`
      with added as (
        insert into erased_order (workspace_id, order_id, customer_id, last_change)
        select workspace_id, order_id, customer_id, max(at)
        from unnest(
          ${named.map(({ workspaceId }) => workspaceId)}::uuid[], ${named.map(({ orderId }) => orderId)}::uuid[],
          ${named.map(({ customerId }) => customerId)}::uuid[], ${named.map(({ at }) => at)}::timestamptz[]
        ) as named (workspace_id, order_id, customer_id, at)
        group by workspace_id, order_id, customer_id
        order by workspace_id, order_id, customer_id
        on conflict do nothing
        returning workspace_id, customer_id
      )
      insert into erasure (workspace_id, customer_id, noted_at, next_pass_at)
      select distinct workspace_id, customer_id, date_trunc('milliseconds', now()), date_trunc('milliseconds', now())
      from unnest(
        ${records.map(({ value }) => value.workspace_id)}::uuid[], ${records.map(({ value }) => value.data.id)}::uuid[]
      ) as erased (workspace_id, customer_id)
      order by workspace_id, customer_id
      on conflict (workspace_id, customer_id) do update
        set noted_at = excluded.noted_at, next_pass_at = excluded.next_pass_at, passes_made = 0
        where (erasure.workspace_id, erasure.customer_id) in (select workspace_id, customer_id from added)`
    return undefined
  },
}
