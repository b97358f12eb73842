import { EventRecord, TOPICS } from '@backoffice/contracts/events.ts'
import type { ServiceName } from '@backoffice/contracts/services.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { enter, type Transaction } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { z } from 'zod'
import { noteDeletion } from './deletion-passes.ts'
import type { WorkspaceHooks } from './workspace-hooks.ts'

/** Not a strict object: members and types of later releases are passed over. */
const WorkspaceRecord = z.object({ ...EventRecord.shape, data: z.unknown() })
type WorkspaceRecord = z.output<typeof WorkspaceRecord>

/**
 * Consumes `gateway.workspaces` as the app role: notes deletions and runs the service's hooks. Records are independent,
 * so that a suspension that failed keeps no deletion back. `onNoted` is called after the commit.
 */
export const workspaceConsumer = (
  service: ServiceName,
  hooks: WorkspaceHooks,
  onNoted: () => void,
): ConsumerDefinition<WorkspaceRecord> => ({
  name: `${service}.workspaces`,
  topics: [TOPICS.gatewayWorkspaces],
  schema: WorkspaceRecord,
  isEachIndependent: true,
  // Each record locks rows of its workspace: none waits for the rows of another.
  batchSize: 1,
  async handle(records, tx) {
    for (const { value, traceparent } of records) {
      const { workspace_id: workspaceId, livemode } = value
      const context = { workspaceId, livemode, traceparent: traceparentFrom(traceparent) }
      await enter(tx, context, (inside) => apply(value, inside, hooks))
    }
    return onNoted
  },
})

async function apply({ type, occurred_at }: WorkspaceRecord, tx: Transaction, hooks: WorkspaceHooks): Promise<void> {
  const at = new Date(occurred_at)
  if (type === 'workspace.suspended') await hooks.onSuspended?.(tx, at)
  if (type === 'workspace.resumed') await hooks.onResumed?.(tx, at)
  if (type === 'workspace.deleted') {
    await noteDeletion(tx)
    await hooks.onDeleted?.(tx, at)
  }
}
