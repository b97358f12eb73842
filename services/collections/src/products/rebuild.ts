import { parseArgs } from 'node:util'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { END, type Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { KAFKA, kafkaServers, refuseIncompleteKafka } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { type OffsetRange, readRange } from '@backoffice/messaging/kafka/read-range.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { WORKER_DATABASE, workerServer } from '@backoffice/postgres/database-settings.ts'
import { openSession } from '@backoffice/postgres/lock-session.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
import { z } from 'zod'
import { lockMembershipsShared } from '../memberships/membership-lock.ts'
import { applyDeletions, workspaceOfEach } from './delete-products.ts'
import { type ReadStates, readStates, type UnreadableRecord } from './read-states.ts'
import { rebuildMemberships } from './rebuild-memberships.ts'
import {
  createRebuildTables,
  deleteStaleProducts,
  findAheadProducts,
  insertTopicProducts,
  isUpToDate,
} from './rebuild-tables.ts'
import { lockPartition, writeProducts } from './write-products.ts'

/** Records in one transaction. Each workspace takes a lock, and the server has room for some thousand. */
const BATCH_SIZE = 1000
const topics = [TOPICS.catalogProducts]

/**
 * Makes the projection equal to the topic's end at the start, while the service goes on consuming. It forgets the
 * queued products first and starts new versions at the end, so repeat one that was killed. `sql` is a single connection
 * of the worker role that does not reconnect: its temporary tables would be lost. Returns numbers: of products with a
 * change that may concern rules, orders or the storefront, of those deleted because the topic does not have them, and
 * of collections with a new version, which the service builds.
 */
export async function rebuildProjection(kafka: Kafka, sql: Sql, onUnreadable: (unreadable: UnreadableRecord) => void) {
  const rebuilt = { read: 0, changed: 0, unreadable: 0 }
  await sql`delete from queued_product`
  const startedAt = await createRebuildTables(sql)
  const until = await endOf(kafka)
  const all = { from: await kafka.offsetsAt(topics, new Date(0)), until }
  const write = async (states: ReadStates) => {
    const changed = await writeStates(sql, startedAt, states)
    rebuilt.changed += changed
  }
  await readAll(kafka, all, async (states) => {
    for (const unreadable of states.unreadable) onUnreadable(unreadable)
    rebuilt.read += states.records
    rebuilt.unreadable += states.unreadable.length
    await write(states)
  })
  if ((await findAheadProducts(sql, startedAt)) > 0) await readAll(kafka, all, write)
  // Compaction may have deleted records before they were read, because newer ones arrived after the start.
  await readAll(kafka, { from: until, until: await endOf(kafka) }, write)
  const deleted = await deleteStaleProducts(sql, startedAt)
  return { ...rebuilt, deleted, collections: await rebuildMemberships(sql) }
}

/** Throws when the topic has no record while there are products, as under another `KAFKA_PREFIX`. */
async function refuseEmptyTopic(kafka: Kafka, sql: Sql): Promise<void> {
  const [from, until] = await Promise.all([kafka.offsetsAt(topics, new Date(0)), endOf(kafka)])
  if ([...until].some(([partition, offset]) => offset > (from.get(partition) ?? 0))) return
  const [product] = await sql`select from product limit 1`
  if (product)
    throw new Error(`${topics} has no record: its states were not published yet, or KAFKA_PREFIX is another one.
With --${ALLOW_EMPTY} all products of collections are deleted.`)
}

/** The offsets after the topic's last records. */
const endOf = (kafka: Kafka) => kafka.offsetsAt(topics, END)

/** Reads a batch of records while the previous one is being written. */
async function readAll(kafka: Kafka, range: OffsetRange, onStates: (states: ReadStates) => Promise<void>) {
  let writing: Promise<void> = Promise.resolve()
  await readRange(kafka, {
    topics,
    range,
    async onRecords(records) {
      for (let from = 0; from < records.length; from += BATCH_SIZE) {
        const states = await readStates(records.slice(from, from + BATCH_SIZE))
        await writing
        writing = onStates(states)
        // The next `await writing` throws the error.
        writing.catch(() => undefined)
      }
    },
  })
  await writing
}

/** Returns how many products changed. Statements that need no earlier result are sent without waiting for it. */
async function writeStates(sql: Sql, startedAt: Date, { partition, products, deleted, unreadable }: ReadStates) {
  const workspaces = [...new Set((await workspaceOfEach(sql, deleted)).values())]
  return inTransaction(sql, async (tx) => {
    // Before the partition, which the consumer waits for.
    if (workspaces.length > 0) await lockMembershipsShared(tx, workspaces)
    const locked = lockPartition(tx, partition).execute()
    if (deleted.length > 0) {
      await locked
      await applyDeletions(tx, deleted, products)
    }
    const inserted = insertTopicProducts(tx, products, unreadable).execute()
    const [, , changed] = await Promise.all([locked, inserted, writeProducts(tx, products, isUpToDate(tx, startedAt))])
    return changed.length
  })
}

const Config = z.object({ ...WORKER_DATABASE, ...KAFKA }).superRefine(refuseIncompleteKafka)

const NAME = 'collections rebuild'
const ALLOW_EMPTY = 'allow-empty-topic'

const SETTINGS = { search_path: 'collections', ...PLAN_EACH_TIME, statement_timeout: '0', work_mem: '32MB' }

/**
 * `npm run rebuild -w services/collections`, while the service runs. After a crash, run it again. Prints unreadable
 * records as lines of JSON, then counts. Exits 0; 1 if there are unreadable records; 2 if it could not finish, or
 * refuses an empty topic.
 */
async function rebuild(): Promise<number> {
  const { values } = parseArgs({ options: { [ALLOW_EMPTY]: { type: 'boolean', default: false } } })
  const config = readConfig(Config)
  const server = workerServer(config)
  await refuseWrongDatabase(server, 'WORKER_DATABASE_URL')
  const sql = openSession(server, NAME, () => undefined, SETTINGS)
  const kafka = connectKafka({ ...kafkaServers(config), clientId: NAME, logger: createLogger('rebuild', 'error') })
  try {
    await kafka.start()
    if (!values[ALLOW_EMPTY]) await refuseEmptyTopic(kafka, sql)
    const rebuilt = await rebuildProjection(kafka, sql, (unreadable) => console.log(JSON.stringify(unreadable)))
    const { read, changed, deleted, unreadable, collections } = rebuilt
    console.log(`records read: ${read}, unreadable: ${unreadable}`)
    console.log(`products changed: ${changed}, deleted: ${deleted}; collections to be built: ${collections}`)
    return unreadable === 0 ? 0 : 1
  } finally {
    await Promise.all([kafka.stop(), sql.end({ timeout: 5 })])
  }
}

if (import.meta.main) await runCommand(rebuild, 2)
