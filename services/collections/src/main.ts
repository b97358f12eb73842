import { fileURLToPath } from 'node:url'
import { createServiceApp, httpServer } from '@backoffice/http/server.ts'
import { consumer } from '@backoffice/messaging/consumer.ts'
import { connectKafka } from '@backoffice/messaging/kafka.ts'
import { outboxRelay } from '@backoffice/messaging/relay.ts'
import { recordSerializer } from '@backoffice/messaging/schema-registry.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { expireIdempotencyKeys } from '@backoffice/postgres/expire-idempotency-keys.ts'
import { migrationsApplied } from '@backoffice/postgres/migrations-applied.ts'
import { List, ProcessConfig, readConfig } from '@backoffice/runtime/config.ts'
import { runProcess } from '@backoffice/runtime/process.ts'
import { z } from 'zod'
import { coverImages } from './collections/cover-image.ts'
import { applyImportBatches } from './imports/apply-import-batches.ts'
import { generationBuilder } from './members/builder.ts'
import { ruleSets } from './members/rule-sets.ts'
import { operations } from './operations.ts'
import { forgetDeleted } from './products/forget-deleted.ts'
import { projectProducts } from './products/project-products.ts'

const config = readConfig(
  ProcessConfig.extend({
    DATABASE_URL: z.url(),
    WORKER_DATABASE_URL: z.url(),
    KAFKA_BROKERS: List,
    KAFKA_PREFIX: z.string().default(''),
    SCHEMA_REGISTRY_URL: z.url(),
    INTERNAL_TOKEN_PUBLIC_KEY: z.string(),
    CATALOG_URL: z.url(),
  }),
)

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

/** A plan kept from when the tables were empty reads them whole once they are not. */
const PLAN_EACH_TIME = { plan_cache_mode: 'force_custom_plan' }

await runProcess('collections', config, (context) => {
  const { logger } = context
  const kafka = connectKafka({
    brokers: config.KAFKA_BROKERS,
    clientId: 'collections',
    prefix: config.KAFKA_PREFIX,
    logger,
  })
  const relay = outboxRelay({
    url: config.WORKER_DATABASE_URL,
    schema: 'collections',
    kafka,
    serialize: recordSerializer(config.SCHEMA_REGISTRY_URL),
    logger,
  })
  const db = openDatabase({ url: config.DATABASE_URL, applicationName: 'collections', onPublished: relay.wake })
  const workerDb = openDatabase({
    url: config.WORKER_DATABASE_URL,
    applicationName: 'collections worker',
    poolSize: 6,
    settings: PLAN_EACH_TIME,
  })
  const importDb = openDatabase({ url: config.DATABASE_URL, applicationName: 'collections imports', poolSize: 4 })
  const app = createServiceApp({
    logger,
    db,
    tokenKey: config.INTERNAL_TOKEN_PUBLIC_KEY,
    operations: operations(coverImages(config.CATALOG_URL)),
  })
  return [
    db,
    migrationsApplied(db, MIGRATIONS),
    workerDb,
    importDb,
    kafka,
    relay,
    consumer(projectProducts(ruleSets()), { ...context, kafka, db: workerDb }),
    consumer(applyImportBatches(relay.wake), { ...context, kafka, db: importDb }),
    generationBuilder(workerDb.sql, logger),
    forgetDeleted(workerDb.sql, logger),
    expireIdempotencyKeys(workerDb, logger),
    httpServer(app, config),
  ]
})
