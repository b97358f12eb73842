import { Id } from '@backoffice/contracts/fields.ts'
import { SERVICES } from '@backoffice/contracts/services.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer.ts'
import { enter, type Transaction } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { z } from 'zod'
import { endIfAnswered } from '../imports/end-import.ts'

const RejectedBatch = z.object({
  workspace_id: Id,
  livemode: z.boolean(),
  data: z.object({ import_id: Id, batch: z.int() }),
})
type RejectedBatch = z.output<typeof RejectedBatch>

/**
 * Ends an import when its owner could not process a batch and sent it to its dead letters. Later batches of the import go there,
 * too. What was applied before stays and is reported. `wake` wakes the relay. The consumer's `db` connects as the app role.
 */
export const recordRejectedBatches = (wake: () => void): ConsumerDefinition<RejectedBatch> => ({
  name: 'imports.rejected-batches',
  topics: SERVICES.imports.consumers['rejected-batches'],
  schema: RejectedBatch,
  isEachIndependent: true,
  batchSize: 1,
  async handle(records, tx) {
    for (const { value, traceparent } of records) {
      const { workspace_id: workspaceId, livemode, data } = value
      const context = { workspaceId, livemode, traceparent: traceparentFrom(traceparent), actor: 'imports' }
      await enter(tx, context, (inside) => recordRejection(inside, data.import_id, data.batch, new Date()))
    }
    return wake
  },
})

async function recordRejection(tx: Transaction, id: string, batch: number, now: Date): Promise<void> {
  await tx`
    update import set
      ends_at_batch = ${batch}, updated_at = now(),
      failure = ${`batch ${batch} could not be applied; the rows before it are`}
    where workspace_id = ${tx.context.workspaceId} and id = ${id} and ended_at is null and ends_at_batch > ${batch}`
  await endIfAnswered(tx, id, now)
}
