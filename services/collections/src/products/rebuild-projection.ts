import { TOPICS } from '@backoffice/contracts/events.ts'
import type { Kafka } from '@backoffice/messaging/kafka-connection.ts'
import { type OffsetRange, readRange } from '@backoffice/messaging/read-range.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { shareMembership } from '../members/membership-lock.ts'
import { deleteTold, workspacesOf } from './delete-products.ts'
import { lockPartition } from './partition-lock.ts'
import { type ReadStates, readStates, type Unreadable } from './read-states.ts'
import { deleteGhosts, findAhead, isEnough, noteSeen, prepareRebuild } from './rebuild-notes.ts'
import { renewCollections } from './renew-collections.ts'
import { writeProducts } from './write-products.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Records in one transaction: a deletion takes an advisory lock for its workspace, of which the server has some thousands for all. */
const AT_ONCE = 1000
const topics = [TOPICS.catalogProducts]

/** What a rebuild has done. */
export interface Rebuilt {
  /** Records read. */
  read: number
  /** Products that rules, orders or the storefront saw otherwise before. */
  changed: number
  /** Products that the topic does not have. */
  deleted: number
  unreadable: number
  /** Collections whose members are built anew, by the service. */
  collections: number
}

/**
 * Makes the projection equal to catalog.products, whatever it was, while the service goes on with what is told meanwhile. Reads the
 * topic up to where it ends now; then gives each collection a new generation, since members are not looked after on the way. One that
 * was killed leaves members behind that do not fit their products, and has to be repeated. `sql` is one connection of the worker role
 * that is never replaced: what it notes is gone with it.
 */
export async function rebuildProjection(
  kafka: Kafka,
  sql: Sql,
  onUnreadable: (unreadable: Unreadable) => void,
): Promise<Rebuilt> {
  const rebuilt: Rebuilt = { read: 0, changed: 0, deleted: 0, unreadable: 0, collections: 0 }
  const startedAt = await prepareRebuild(sql)
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
  if ((await findAhead(sql, startedAt)) > 0) await readAll(kafka, all, write)
  // For the sake of states told since the start, compaction may have dropped those before they were read.
  await readAll(kafka, { from: until, until: await endOf(kafka) }, write)
  rebuilt.deleted = await deleteGhosts(sql, startedAt)
  rebuilt.collections = await renewCollections(sql)
  return rebuilt
}

/** The offsets after the last records there are. */
const endOf = (kafka: Kafka) => kafka.offsetsAt(topics, new Date(Date.now() + DAY_MS))

/** Reads records while those before are being written. */
async function readAll(
  kafka: Kafka,
  range: OffsetRange,
  onStates: (states: ReadStates) => Promise<void>,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  await readRange(kafka, {
    topics,
    range,
    async onRecords(records) {
      for (let from = 0; from < records.length; from += AT_ONCE) {
        const states = await readStates(records.slice(from, from + AT_ONCE))
        await writing
        writing = onStates(states)
        // Thrown where it is awaited.
        writing.catch(() => undefined)
      }
    },
  })
  await writing
}

/** Returns how many products changed. What needs no answer of the statement before is sent behind it at once. */
const writeStates = (sql: Sql, startedAt: Date, { partition, products, deleted, unreadable }: ReadStates) =>
  inTransaction(sql, async (tx) => {
    const locked = lockPartition(tx, partition).execute()
    if (deleted.length > 0) {
      await locked
      await shareMembership(tx, await workspacesOf(tx, deleted))
      await deleteTold(tx, deleted, products)
    }
    const seen = noteSeen(tx, products, unreadable).execute()
    const [, , changed] = await Promise.all([locked, seen, writeProducts(tx, products, isEnough(tx, startedAt))])
    return changed.length
  })
