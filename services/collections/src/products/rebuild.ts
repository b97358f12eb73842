import { connectKafka } from '@backoffice/messaging/kafka.ts'
import { openSession } from '@backoffice/postgres/lock-session.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { List, readConfig } from '@backoffice/runtime/config.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { z } from 'zod'
import { type Rebuilt, rebuildProjection } from './rebuild-projection.ts'

/**
 * `npm run rebuild -w services/collections`: makes the projection of products equal to catalog.products and starts a new membership
 * version for every collection, while the service runs. After a crash, run it again. Prints each unreadable record as a line of JSON,
 * then counts. Exits 0; 1 if there are unreadable records; 2 if it could not finish.
 */
const Config = z.object({ WORKER_DATABASE_URL: z.url(), KAFKA_BROKERS: List, KAFKA_PREFIX: z.string().default('') })

const NAME = 'collections rebuild'

const SETTINGS = { search_path: 'collections', ...PLAN_EACH_TIME, statement_timeout: '0', work_mem: '32MB' }

async function rebuild(): Promise<Rebuilt> {
  const { WORKER_DATABASE_URL: url, KAFKA_BROKERS: brokers, KAFKA_PREFIX: prefix } = readConfig(Config)
  const sql = openSession(url, NAME, () => undefined, SETTINGS)
  const kafka = connectKafka({ brokers, clientId: NAME, prefix, logger: createLogger('rebuild', 'error') })
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
