import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { parseRecord } from '@backoffice/messaging/consumers/received-records.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { END, type IncomingRecord, type Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { KAFKA, kafkaServers, refuseIncompleteKafka } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { readRange } from '@backoffice/messaging/kafka/read-range.ts'
import { type Database, openDatabase } from '@backoffice/postgres/database.ts'
import { APP_DATABASE, appServer } from '@backoffice/postgres/database-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
import { z } from 'zod'
import { requestRefresh } from './refresh-products.ts'

const topics = [TOPICS.catalogProducts]
const PublishedState = z.object({ workspace_id: Id, livemode: z.boolean(), data: z.object({ id: Id }) }).nullable()

/**
 * Asks that the state of every product of all workspaces be published again (decision 017), so that projections get a
 * member that a release has added. Finds the products in `catalog.products`, since the tables do not tell a workspace's
 * livemode. Passes over records that cannot be read. `db` connects as the app role. Returns the number of requests. May
 * be interrupted and repeated.
 */
async function republishProducts(
  kafka: Kafka,
  db: Database,
  onUnreadable: (record: IncomingRecord, error: unknown) => void,
): Promise<number> {
  let requests = 0
  const stateOf = (record: IncomingRecord) => {
    try {
      return parseRecord(record, PublishedState).value ?? []
    } catch (error) {
      onUnreadable(record, error)
      return []
    }
  }
  await readRange(kafka, {
    topics,
    range: {
      from: await kafka.offsetsAt(topics, new Date(0)),
      until: await kafka.offsetsAt(topics, END),
    },
    async onRecords(records) {
      const states = records.flatMap(stateOf)
      for (const [workspaceId, ofWorkspace] of Map.groupBy(states, (state) => state.workspace_id)) {
        const ids = new Set(ofWorkspace.map(({ data }) => data.id))
        const livemode = ofWorkspace.some((state) => state.livemode)
        const context = { workspaceId, livemode, traceparent: '', actor: 'republish' }
        await db.inWorkspace(context, (tx) => requestRefresh(tx, [...ids], false))
        requests += ids.size
      }
    },
  })
  return requests
}

/**
 * `npm run republish -w services/catalog`: requests the states of all products. Prints unreadable records as lines of
 * JSON, then the number of requests. Exits 0; 1 if there are unreadable records; 2 if it could not finish.
 */
async function republish(): Promise<number> {
  const config = readConfig(z.object({ ...APP_DATABASE, ...KAFKA }).superRefine(refuseIncompleteKafka))
  const server = appServer(config)
  await refuseWrongDatabase(server, 'DATABASE_URL')
  const name = 'catalog republish'
  const db = openDatabase({ ...server, applicationName: name, poolSize: 1 })
  const kafka = connectKafka({ ...kafkaServers(config), clientId: name, logger: createLogger(name, 'error') })
  try {
    await kafka.start()
    let code = 0
    const requests = await republishProducts(kafka, db, ({ partition, offset, key }, error) => {
      code = 1
      console.log(
        JSON.stringify({ partition, offset, key, reason: error instanceof Error ? error.message : `${error}` }),
      )
    })
    console.log(`states requested: ${requests}`)
    return code
  } finally {
    await Promise.all([kafka.stop(), db.stop?.()])
  }
}

if (import.meta.main) await runCommand(republish, 2)
