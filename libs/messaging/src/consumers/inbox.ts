import { enter, type Transaction, type WorkspaceContext } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { ConsumerDefinition } from './consumer.ts'

/** A consumer whose effect has no natural unique key. */
export interface InboxDefinition<Value> extends Pick<ConsumerDefinition<Value>, 'name' | 'topics' | 'schema'> {
  /** Awaited before each record, to slow the consumer down. */
  beforeEach?(): Promise<void>
  /**
   * The workspace in which a record takes effect, and the id that stays the same when the record comes again. Undefined
   * for a record that this consumer ignores.
   */
  destinationOf(value: Value): (Omit<WorkspaceContext, 'traceparent'> & { readonly messageId: string }) | undefined
  /** Handles one record, in a transaction of its own inside the record's workspace. */
  handle(value: Value, tx: Transaction): Promise<void>
  /** Called after the commit of that transaction. */
  afterCommit(): void
}

/**
 * Makes a consumer whose records take effect once: the record's id goes into the inbox in the transaction of the
 * effect. The consumer's `db` connects as the app role.
 */
export const withInbox = <Value>(definition: InboxDefinition<Value>): ConsumerDefinition<Value> => ({
  ...definition,
  async batchSize() {
    await definition.beforeEach?.()
    return 1
  },
  async handle(records, tx) {
    for (const { value, traceparent } of records) {
      const destination = definition.destinationOf(value)
      if (destination === undefined) continue
      await enter(tx, { ...destination, traceparent: traceparentFrom(traceparent) }, async (inside) => {
        if (await addToInbox(inside, definition.name, destination.messageId)) await definition.handle(value, inside)
      })
    }
    return definition.afterCommit
  },
})

/** Well beyond the week that topics keep a message. */
const KEEP_DAYS = 30
/** Old ids deleted with each new one, so that a workspace's inbox shrinks faster than it grows. */
const DELETE_BATCH_SIZE = 10

/** Adds the message to the inbox; false when it is there already. Waits for another transaction that is adding it. */
async function addToInbox(tx: Transaction, consumer: string, messageId: string): Promise<boolean> {
  const workspace = tx.context.workspaceId
  const written = await tx`
    with deleted as (
      delete from inbox where workspace_id = ${workspace} and (consumer, message_id) in (
        select consumer, message_id from inbox
        where workspace_id = ${workspace} and received_at < now() - make_interval(days => ${KEEP_DAYS})
        order by received_at limit ${DELETE_BATCH_SIZE} for update skip locked
      )
    )
    insert into inbox (workspace_id, consumer, message_id) values (${workspace}, ${consumer}, ${messageId})
    on conflict do nothing`
  return written.count === 1
}
