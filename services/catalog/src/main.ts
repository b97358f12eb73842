import { fileURLToPath } from 'node:url'
import { createServiceApp, httpServer } from '@backoffice/http/server.ts'
import { connectKafka } from '@backoffice/messaging/kafka.ts'
import { outboxRelay } from '@backoffice/messaging/relay.ts'
import { recordSerializer } from '@backoffice/messaging/schema-registry.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { expireIdempotencyKeys } from '@backoffice/postgres/expire-idempotency-keys.ts'
import { migrationsApplied } from '@backoffice/postgres/migrations-applied.ts'
import { List, ProcessConfig, readConfig } from '@backoffice/runtime/config.ts'
import { runProcess } from '@backoffice/runtime/process.ts'
import { z } from 'zod'
import { createProduct } from './products/create-product.ts'
import { deleteProduct } from './products/delete-product.ts'
import { getProduct } from './products/get-product.ts'
import { refreshProducts } from './products/refresh-products.ts'
import { updateProduct } from './products/update-product.ts'

const config = readConfig(
  ProcessConfig.extend({
    DATABASE_URL: z.url(),
    WORKER_DATABASE_URL: z.url(),
    KAFKA_BROKERS: List,
    KAFKA_PREFIX: z.string().default(''),
    SCHEMA_REGISTRY_URL: z.url(),
    INTERNAL_TOKEN_PUBLIC_KEY: z.string(),
  }),
)

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

await runProcess('catalog', config, ({ logger }) => {
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
    settings: { plan_cache_mode: 'force_custom_plan' },
    onPublished: relay.wake,
  })
  const app = createServiceApp({
    logger,
    db,
    tokenKey: config.INTERNAL_TOKEN_PUBLIC_KEY,
    operations: [createProduct, getProduct, updateProduct, deleteProduct],
  })
  return [
    db,
    migrationsApplied(db, MIGRATIONS),
    workerDb,
    refreshDb,
    kafka,
    relay,
    refreshProducts({ db: refreshDb, worker: workerDb, logger }),
    expireIdempotencyKeys(workerDb, logger),
    httpServer(app, config),
  ]
})
