import { enter, type Transaction, type WorkspaceContext } from '@backoffice/postgres/database.ts'
import { earlierNow } from '@backoffice/postgres/database-clock.ts'
import type { TransactionSql } from 'postgres'

/** Well beyond the week that topics keep a message. */
const KEEP_DAYS = 30
/** Kafka brings a record again sooner, after a crash or when its partition moves: later somebody has sent it again. */
const SENT_AGAIN_AFTER = '15 minutes'
/** Old ids deleted with each new one, so that a workspace's inbox shrinks faster than it grows. */
const DELETE_BATCH_SIZE = 10

/** A message of a workspace, as the consumer knows it. */
interface Message {
  readonly consumer: string
  readonly id: string
}

/**
 * Runs the effect of a message inside its workspace, unless it had its effect before: the message's id goes into the
 * inbox in the transaction of the effect. For consumers whose effect has no natural unique key. `sentAgain` is run
 * instead for a message that had its effect and is sent again, since its answer is lost. `begun` connects as the app
 * role.
 */
export const handleOnce = (
  begun: TransactionSql,
  context: WorkspaceContext,
  message: Message,
  effect: (tx: Transaction) => Promise<void>,
  sentAgain?: (tx: Transaction) => Promise<void>,
): Promise<void> =>
  enter(begun, context, async (tx) => {
    if (await addToInbox(tx, message)) await effect(tx)
    else if (sentAgain && (await isSentAgain(tx, message))) await sentAgain(tx)
  })

async function isSentAgain(tx: Transaction, { consumer, id }: Message): Promise<boolean> {
  const handled = await tx`
    select from inbox
    where workspace_id = ${tx.context.workspaceId} and consumer = ${consumer} and message_id = ${id}
      and received_at < now() - ${SENT_AGAIN_AFTER}::interval`
  return handled.length === 1
}

/** Takes a message out of the inbox in the transaction that has added it: its effect takes a further transaction. */
export const takeFromInbox = (tx: Transaction, { consumer, id }: Message) => tx`
  delete from inbox where workspace_id = ${tx.context.workspaceId} and consumer = ${consumer} and message_id = ${id}`

/** Adds the message to the inbox; false when it is there already. Waits for another transaction that is adding it. */
async function addToInbox(tx: Transaction, { consumer, id }: Message): Promise<boolean> {
  const workspace = tx.context.workspaceId
  const written = await tx`
    with deleted as (
      delete from inbox where workspace_id = ${workspace} and (consumer, message_id) in (
        select consumer, message_id from inbox
        where workspace_id = ${workspace} and received_at < ${earlierNow(tx)} - make_interval(days => ${KEEP_DAYS})
        order by received_at limit ${DELETE_BATCH_SIZE} for update skip locked
      )
    )
    insert into inbox (workspace_id, consumer, message_id) values (${workspace}, ${consumer}, ${id})
    on conflict do nothing`
  return written.count === 1
}
