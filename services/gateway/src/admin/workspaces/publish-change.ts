import { type RecordType, TOPICS } from '@backoffice/contracts/events.ts'
import { enter, type Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'

export interface ChangedWorkspace {
  readonly id: string
  readonly livemode: boolean
  /** When it was changed. */
  readonly at: Date
}

/**
 * Publishes the change of some workspaces, each in its own context, in the transaction that changed their rows.
 * `inEach` runs in each context as well.
 */
export async function publishChange(
  tx: Transaction,
  type: RecordType<typeof TOPICS.gatewayWorkspaces>,
  workspaces: readonly ChangedWorkspace[],
  inEach?: (inside: Transaction) => Promise<void>,
): Promise<void> {
  const { context } = tx
  for (const { id, livemode, at } of workspaces) {
    await enter(tx, { ...context, workspaceId: id, livemode }, async (inside) => {
      await inEach?.(inside)
      await publish(inside, [outboxRecord(TOPICS.gatewayWorkspaces, type, id, {})], at)
    })
  }
  // Returns to the workspace of the act. `enter` forgets what was published, so it is added again.
  const { published } = tx
  await enter(tx, context, async (own) => {
    for (const one of published) own.published.add(one)
  })
}
