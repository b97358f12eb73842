import { type RecordType, TOPICS } from '@backoffice/contracts/events.ts'
import { enter, type Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'

/** A live workspace or a sandbox. */
export interface ChangedWorkspace {
  readonly id: string
  readonly livemode: boolean
}

type ChangeType = RecordType<typeof TOPICS.gatewayWorkspaces>

/**
 * Publishes what became of some workspaces, each inside its own, in the transaction that has changed their rows. `inEach` is run beside.
 */
export async function publishChange(
  tx: Transaction,
  type: ChangeType,
  workspaces: readonly ChangedWorkspace[],
  now: Date,
  inEach?: (inside: Transaction) => Promise<void>,
): Promise<void> {
  const { context } = tx
  for (const { id, livemode } of workspaces) {
    await enter(tx, { ...context, workspaceId: id, livemode }, async (inside) => {
      await inEach?.(inside)
      await publish(inside, [outboxRecord(TOPICS.gatewayWorkspaces, type, id, {})], now)
    })
  }
  // Back in the workspace of the act. `enter` forgets that something was published.
  const { hasPublished } = tx
  await enter(tx, context, async (own) => {
    own.hasPublished = hasPublished
  })
}
