import { setTimeout as pause } from 'node:timers/promises'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import type { TransactionSql } from 'postgres'
import { isCircumstantial } from './circumstances.ts'
import { sendDeadLetters } from './dead-letters.ts'
import { type Handling, Interrupted, patiently, type Received, receivedOf } from './handling.ts'
import type { IncomingRecord } from './kafka-connection.ts'
import { parkedKeys, parkKey } from './parked-keys.ts'

/** Waits before a batch that failed is tried again as a whole; after the last it is taken apart. */
const RETRY_AFTER_MS = [50, 250]
const MAX_REASON_LENGTH = 1000

const deadLetters = meter('consumer').createCounter('consumer_dead_letters', {
  description: 'Records sent to a dead-letter topic',
})

interface Decoded<Value> {
  readonly record: IncomingRecord
  readonly received: Received<Value>
}

/**
 * Brings records of one partition through the handler in their order: together in one transaction or, when that keeps
 * failing, in ever smaller parts until the one that fails is alone. That one goes to the dead letters and its neighbours go
 * on. Unless each record is independent its key is parked, so that nothing overtakes it. Waits without end while
 * circumstances are at fault. Returns how many records went to the dead letters.
 */
export async function settleRecords<Value>(
  handling: Handling<Value>,
  records: readonly IncomingRecord[],
): Promise<number> {
  let dead = 0
  let run: Decoded<Value>[] = []
  for (const record of records) {
    try {
      run.push({ record, received: receivedOf(record, handling.schema) })
    } catch (error) {
      dead += await settle(handling, run, RETRY_AFTER_MS)
      dead += await giveUp(handling, record, error)
      run = []
    }
  }
  return dead + (await settle(handling, run, RETRY_AFTER_MS))
}

async function settle<Value>(
  handling: Handling<Value>,
  batch: Decoded<Value>[],
  waits: readonly number[],
): Promise<number> {
  const [first] = batch
  if (!first) return 0
  for (let attempt = 0; ; attempt++) {
    try {
      return await handleTogether(handling, batch)
    } catch (error) {
      if (error instanceof Interrupted) throw error
      const wait = waits[attempt]
      if (wait !== undefined) {
        await pause(wait)
        continue
      }
      if (batch.length === 1) return giveUp(handling, first.record, error)
      const middle = batch.length >> 1
      return (await settle(handling, batch.slice(0, middle), [])) + (await settle(handling, batch.slice(middle), []))
    }
  }
}

/** One transaction for all whose key is not parked. */
async function handleTogether<Value>(handling: Handling<Value>, batch: Decoded<Value>[]): Promise<number> {
  const { followers, afterCommit } = await patiently(
    handling,
    () =>
      inTransaction(
        handling.sql,
        async (tx) => {
          const parked = await parkedAmong(handling, batch, tx)
          const own = batch.filter(({ record }) => !parked.has(record.key)).map(({ received }) => received)
          return {
            followers: batch.map(({ record }) => record).filter(({ key }) => parked.has(key)),
            afterCommit: own.length > 0 ? await handling.handle(own, tx) : undefined,
          }
        },
        handling.beginWithinMs,
      ),
    isCircumstantial,
  )
  try {
    afterCommit?.()
  } catch (error) {
    handling.logger.error({ err: error, consumer: handling.name }, 'failed after the commit')
  }
  if (followers.length > 0) await bury(handling, followers, 'an earlier record of its key is here')
  return followers.length
}

/** Keys of this batch whose records follow an earlier one to the dead letters. */
async function parkedAmong<Value>(
  { name, isEachIndependent }: Handling<Value>,
  batch: Decoded<Value>[],
  tx: TransactionSql,
): Promise<Set<string | null>> {
  if (isEachIndependent) return new Set()
  const records = batch.map(({ record }) => record)
  return parkedKeys(tx, name, records)
}

async function giveUp<Value>(handling: Handling<Value>, record: IncomingRecord, error: unknown): Promise<number> {
  const { name, sql, logger, isEachIndependent = false } = handling
  const reason = (error instanceof Error ? error.message : String(error))
    .replaceAll('\0', '')
    .slice(0, MAX_REASON_LENGTH)
  const { topic, partition, offset, key } = record
  const parked = !isEachIndependent
  logger.error({ err: error, consumer: name, topic, partition, offset, key, parked }, 'record given up')
  if (parked) {
    await patiently(
      handling,
      () => parkKey(sql, name, record, reason),
      () => true,
    )
  }
  await bury(handling, [record], reason)
  return 1
}

/** Not reaching the dead-letter topic is no reason to drop a record. */
async function bury<Value>(handling: Handling<Value>, records: IncomingRecord[], reason: string): Promise<void> {
  const { kafka, name } = handling
  await patiently(
    handling,
    () => sendDeadLetters(kafka, name, records, reason),
    () => true,
  )
  deadLetters.add(records.length, { consumer: name })
}
