import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { KAFKA, kafkaServers, refuseIncompleteKafka } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { WORKER_DATABASE, workerServer } from '@backoffice/postgres/database-settings.ts'
import { openSession } from '@backoffice/postgres/lock-session.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
import { z } from 'zod'
import { type Rebuilt, rebuildProjection } from './rebuild-projection.ts'

/**
 * `npm run rebuild -w services/collections`: makes the projection of products equal to catalog.products and starts a
 * new membership version for every collection, while the service runs. After a crash, run it again. Prints each
 * unreadable record as a line of JSON, then counts. Exits 0; 1 if there are unreadable records; 2 if it could not
 * finish.
 */
const Config = z.object({ ...WORKER_DATABASE, ...KAFKA }).superRefine(refuseIncompleteKafka)

const NAME = 'collections rebuild'

const SETTINGS = { search_path: 'collections', ...PLAN_EACH_TIME, statement_timeout: '0', work_mem: '32MB' }

async function rebuild(): Promise<Rebuilt> {
  const config = readConfig(Config)
  const server = workerServer(config)
  await refuseWrongDatabase(server, 'WORKER_DATABASE_URL')
  const sql = openSession(server, NAME, () => undefined, SETTINGS)
  const kafka = connectKafka({ ...kafkaServers(config), clientId: NAME, logger: createLogger('rebuild', 'error') })
  try {
    await kafka.start()
    return await rebuildProjection(kafka, sql, (unreadable) => console.log(JSON.stringify(unreadable)))
  } finally {
    await Promise.all([kafka.stop(), sql.end({ timeout: 5 })])
  }
}

await runCommand(async () => {
  const { read, changed, deleted, unreadable, collections } = await rebuild()
  console.log(`records read: ${read}, unreadable: ${unreadable}`)
  console.log(`products changed: ${changed}, deleted: ${deleted}; collections to be built: ${collections}`)
  return unreadable === 0 ? 0 : 1
}, 2)
