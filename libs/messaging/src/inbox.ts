import { enter, type Transaction, type WorkspaceContext } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { ConsumerDefinition } from './consumer.ts'

/** Where the effect of a record belongs, and what the record is known by there, however often it comes. */
export interface Destination extends Omit<WorkspaceContext, 'traceparent'> {
  readonly messageId: string
}

/** What is consumed and what is done with it, for an effect that has no natural unique key. */
export interface InboxDefinition<Value> extends Pick<ConsumerDefinition<Value>, 'name' | 'topics' | 'schema'> {
  /** Undefined for a record that is none of this consumer's business. */
  destinationOf(value: Value): Destination | undefined
  /** Handles one record, in a transaction of its own inside the record's workspace. */
  handle(value: Value, tx: Transaction): Promise<void>
  /** Called once that transaction is committed. */
  afterCommit(): void
}

/**
 * Makes a consumer whose records take effect once: their ids go into the inbox in the transaction of the effect. It is run on
 * the app role's connections.
 */
export const withInbox = <Value>(definition: InboxDefinition<Value>): ConsumerDefinition<Value> => ({
  ...definition,
  recordsAtOnce: 1,
  async handle(records, tx) {
    for (const { value, traceparent } of records) {
      const destination = definition.destinationOf(value)
      if (destination === undefined) continue
      await enter(tx, { ...destination, traceparent: traceparentFrom(traceparent) }, async (inside) => {
        if (await isNew(inside, definition.name, destination.messageId)) await definition.handle(value, inside)
      })
    }
    return definition.afterCommit
  },
})

/** Days a message is remembered: well beyond the week that topics keep it. */
const REMEMBERED_DAYS = 30
/** Forgotten with each new one, so that a workspace's inbox shrinks faster than it grows. */
const FORGOTTEN_AT_ONCE = 10

/** Whether the message comes for the first time. One that is being handled elsewhere at this moment is waited for. */
async function isNew(tx: Transaction, consumer: string, messageId: string): Promise<boolean> {
  const workspace = tx.context.workspaceId
  const written = await tx`
    with forgotten as (
      delete from inbox where workspace_id = ${workspace} and (consumer, message_id) in (
        select consumer, message_id from inbox
        where workspace_id = ${workspace} and received_at < now() - make_interval(days => ${REMEMBERED_DAYS})
        order by received_at limit ${FORGOTTEN_AT_ONCE} for update skip locked
      )
    )
    insert into inbox (workspace_id, consumer, message_id) values (${workspace}, ${consumer}, ${messageId})
    on conflict do nothing`
  return written.count === 1
}
