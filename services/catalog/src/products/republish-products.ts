import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { connectKafka } from '@backoffice/messaging/kafka.ts'
import type { IncomingRecord, Kafka } from '@backoffice/messaging/kafka-connection.ts'
import { readRange } from '@backoffice/messaging/read-range.ts'
import { parseRecord } from '@backoffice/messaging/received-records.ts'
import { type Database, openDatabase } from '@backoffice/postgres/database.ts'
import { List, readConfig } from '@backoffice/runtime/config.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { z } from 'zod'
import { requestRefresh } from './refresh-products.ts'

const topics = [TOPICS.catalogProducts]
const DAY_MS = 24 * 60 * 60 * 1000
const PublishedState = z.object({ workspace_id: Id, livemode: z.boolean(), data: z.object({ id: Id }) }).nullable()

/**
 * Asks that the state of every product of all workspaces be published again (decision 017), so that projections get a
 * member that a release has added. Finds the products in `catalog.products`, since the tables do not tell a workspace's
 * livemode. `db` connects as the app role. Returns the number of requests. May be interrupted and repeated.
 */
export async function republishProducts(kafka: Kafka, db: Database): Promise<number> {
  let requests = 0
  await readRange(kafka, {
    topics,
    range: {
      from: await kafka.offsetsAt(topics, new Date(0)),
      until: await kafka.offsetsAt(topics, new Date(Date.now() + DAY_MS)),
    },
    async onRecords(records) {
      for (const { workspaceId, livemode, ids } of productsOf(records)) {
        const context = { workspaceId, livemode, traceparent: '', actor: 'republish' }
        await db.inWorkspace(context, (tx) => requestRefresh(tx, [...ids], false))
        requests += ids.size
      }
    },
  })
  return requests
}

/** The products that records are about, by workspace. */
function productsOf(records: readonly IncomingRecord[]) {
  const workspaces = new Map<string, { workspaceId: string; livemode: boolean; ids: Set<string> }>()
  for (const record of records) {
    const state = parseRecord(record, PublishedState).value
    if (state === null) continue
    const { workspace_id: workspaceId, livemode, data } = state
    const known = workspaces.get(workspaceId) ?? { workspaceId, livemode, ids: new Set() }
    workspaces.set(workspaceId, known)
    known.ids.add(data.id)
  }
  return workspaces.values()
}

/** `npm run republish -w services/catalog`: requests the states of all products and prints their number. */
async function main(): Promise<void> {
  const config = readConfig(
    z.object({ DATABASE_URL: z.url(), KAFKA_BROKERS: List, KAFKA_PREFIX: z.string().default('') }),
  )
  const { DATABASE_URL: url, KAFKA_BROKERS: brokers, KAFKA_PREFIX: prefix } = config
  const name = 'catalog republish'
  const db = openDatabase({ url, applicationName: name, poolSize: 1 })
  const kafka = connectKafka({ brokers, clientId: name, prefix, logger: createLogger(name, 'error') })
  console.log(`states requested: ${await republishProducts(kafka, db)}`)
  await Promise.all([kafka.stop(), db.stop?.()])
}

if (import.meta.main) await main()
