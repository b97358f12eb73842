import { connectKafka } from '@backoffice/messaging/kafka.ts'
import { openSession } from '@backoffice/postgres/session.ts'
import { List, readConfig } from '@backoffice/runtime/config.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { z } from 'zod'
import { type Rebuilt, rebuildProjection } from './rebuild-projection.ts'

/**
 * `npm run rebuild -w services/collections`: makes the projection of products equal to catalog.products and has the members of all
 * collections built anew, while the service runs. May be killed, and then has to be repeated. Prints records that nobody can
 * read, a line of JSON each, and counts. Exits 0, 1 when there are such records, 2 when it could not finish.
 */
const Config = z.object({
  WORKER_DATABASE_URL: z.url(),
  KAFKA_BROKERS: List,
  KAFKA_PREFIX: z.string().default(''),
})

const NAME = 'collections rebuild'

const SETTINGS = {
  search_path: 'collections',
  plan_cache_mode: 'force_custom_plan',
  statement_timeout: '0',
  work_mem: '32MB',
}

async function rebuild(): Promise<Rebuilt> {
  const { WORKER_DATABASE_URL, KAFKA_BROKERS, KAFKA_PREFIX } = readConfig(Config)
  const sql = openSession(WORKER_DATABASE_URL, NAME, () => undefined, SETTINGS)
  const kafka = connectKafka({
    brokers: KAFKA_BROKERS,
    clientId: NAME,
    prefix: KAFKA_PREFIX,
    logger: createLogger('rebuild', 'error'),
  })
  try {
    return await rebuildProjection(kafka, sql, (unreadable) => console.log(JSON.stringify(unreadable)))
  } finally {
    await Promise.all([kafka.stop(), sql.end({ timeout: 5 })])
  }
}

process.exitCode = await rebuild().then(
  ({ read, changed, deleted, unreadable, collections }) => {
    console.log(`records read: ${read}, unreadable: ${unreadable}`)
    console.log(`products changed: ${changed}, deleted: ${deleted}; collections to be built: ${collections}`)
    return unreadable === 0 ? 0 : 1
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    return 2
  },
)
