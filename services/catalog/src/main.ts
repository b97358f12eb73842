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
import { openStorage, StorageConfig } from './assets/open-storage.ts'
import { addAssetFiles } from './assets/serve-assets.ts'
import { applyImportBatches } from './imports/apply-import-batches.ts'
import { operations } from './operations.ts'
import { refreshProducts } from './products/refresh-products.ts'

const config = readConfig(
  ProcessConfig.extend({
    DATABASE_URL: z.url(),
    WORKER_DATABASE_URL: z.url(),
    KAFKA_BROKERS: List,
    KAFKA_PREFIX: z.string().default(''),
    SCHEMA_REGISTRY_URL: z.url(),
    INTERNAL_TOKEN_PUBLIC_KEY: z.string(),
    ...StorageConfig.shape,
  }),
)

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

await runProcess('catalog', config, (context) => {
  const { logger } = context
  const kafka = connectKafka({
    brokers: config.KAFKA_BROKERS,
    clientId: 'catalog',
    prefix: config.KAFKA_PREFIX,
    logger,
  })
  const relay = outboxRelay({
    url: config.WORKER_DATABASE_URL,
    schema: 'catalog',
    kafka,
    serialize: recordSerializer(config.SCHEMA_REGISTRY_URL),
    logger,
  })
  const db = openDatabase({ url: config.DATABASE_URL, applicationName: 'catalog', onPublished: relay.wake })
  const workerDb = openDatabase({ url: config.WORKER_DATABASE_URL, applicationName: 'catalog worker', poolSize: 1 })
  const refreshDb = openDatabase({
    url: config.DATABASE_URL,
    applicationName: 'catalog refresh',
    poolSize: 1,
    // A product that someone keeps locked is left for later: other workspaces wait behind it.
    settings: { plan_cache_mode: 'force_custom_plan', lock_timeout: '1s' },
    onPublished: relay.wake,
  })
  const importDb = openDatabase({ url: config.DATABASE_URL, applicationName: 'catalog imports', poolSize: 4 })
  const storage = openStorage(config)
  const app = createServiceApp({
    logger,
    db,
    tokenKey: config.INTERNAL_TOKEN_PUBLIC_KEY,
    operations: operations(storage),
  })
  addAssetFiles(app, storage)
  return [
    db,
    migrationsApplied(db, MIGRATIONS),
    workerDb,
    refreshDb,
    importDb,
    kafka,
    relay,
    consumer(applyImportBatches(relay.wake), { ...context, kafka, db: importDb }),
    refreshProducts({ db: refreshDb, worker: workerDb, logger }),
    expireIdempotencyKeys(workerDb, logger),
    storage,
    httpServer(app, config),
  ]
})
