import { RECORDS, TOPICS } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { z } from 'zod'

const erased = RECORDS[TOPICS.ordersErasures]['customer.erased'].shape

/** A customer.erased record as it is read here: members of later releases are passed over. */
const ErasedRecord = z.object({ ...erased, data: z.object(erased.data.shape) })
type ErasedRecord = z.output<typeof ErasedRecord>

/** Notes whose personal data the erasure worker removes (OP-139). A repeated record makes the same passes at most. */
export const noteErasures: ConsumerDefinition<ErasedRecord> = {
  name: 'webhook-delivery.erasures',
  topics: [TOPICS.ordersErasures],
  schema: ErasedRecord,
  isEachIndependent: true,
  async handle(records, tx) {
    await tx`
      insert into erasure (workspace_id, customer_id, noted_at, next_pass_at)
      select distinct workspace_id, customer_id, date_trunc('milliseconds', now()), date_trunc('milliseconds', now())
      from unnest(
        ${records.map(({ value }) => value.workspace_id)}::uuid[], ${records.map(({ value }) => value.data.id)}::uuid[]
      ) as erased (workspace_id, customer_id)
      order by workspace_id, customer_id
      on conflict do nothing`
    return undefined
  },
}
