import { fileURLToPath } from 'node:url'
import { createServiceApp, httpServer } from '@backoffice/http/server.ts'
import { consumer } from '@backoffice/messaging/consumer.ts'
import { connectKafka } from '@backoffice/messaging/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { expireIdempotencyKeys } from '@backoffice/postgres/expire-idempotency-keys.ts'
import { migrationsApplied } from '@backoffice/postgres/migrations-applied.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { runProcess } from '@backoffice/runtime/process.ts'
import { WebhookDeliveryConfig } from './config.ts'
import { dailyPartitions } from './deliveries/daily-partitions.ts'
import { Dispatcher } from './deliveries/dispatcher.ts'
import { PLANS_ONCE } from './deliveries/plans.ts'
import { recoveryWorker } from './deliveries/recovery-worker.ts'
import { endpointDirectory } from './endpoints/endpoint-directory.ts'
import { resolveName } from './endpoints/endpoint-url.ts'
import { fanOut } from './events/fan-out.ts'
import { operations } from './operations.ts'
import { guardedAgent } from './sending/guarded-agent.ts'

const config = readConfig(WebhookDeliveryConfig)

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

await runProcess('webhook-delivery', config, (context) => {
  const { logger } = context
  const policy = { allowLoopback: config.WEBHOOK_ALLOW_LOOPBACK }
  const keys = config.WEBHOOK_SECRET_KEYS
  const schedule = config.WEBHOOK_RETRY_DELAYS
  const url = config.WORKER_DATABASE_URL
  const db = openDatabase({ url: config.DATABASE_URL, applicationName: 'webhook-delivery' })
  const workerDb = openDatabase({ url, applicationName: 'webhook-delivery worker', settings: PLANS_ONCE })
  const kafka = connectKafka({
    brokers: config.KAFKA_BROKERS,
    clientId: 'webhook-delivery',
    prefix: config.KAFKA_PREFIX,
    logger,
  })
  const directory = endpointDirectory(keys, {
    logger,
    onUnknownKey: (error) => context.fatal('cannot sign', error),
  })
  const agent = guardedAgent(policy, { proxy: config.EGRESS_PROXY_URL })
  const dispatcher = new Dispatcher({ sql: workerDb.sql, url, directory, keys, agent, logger, schedule })
  const app = createServiceApp({
    logger,
    db,
    tokenKey: config.INTERNAL_TOKEN_PUBLIC_KEY,
    operations: operations({ policy, keys, resolve: resolveName, dispatcher }),
  })
  return [
    db,
    migrationsApplied(db, MIGRATIONS),
    workerDb,
    dailyPartitions(workerDb.sql, logger),
    kafka,
    dispatcher,
    consumer(fanOut({ directory, dispatcher, schedule }), { ...context, kafka, db: workerDb }),
    recoveryWorker(workerDb.sql, logger),
    expireIdempotencyKeys(workerDb, logger),
    httpServer(app, config),
  ]
})
