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
import { readAsset } from './assets/read-asset.ts'
import { addAssetFiles } from './assets/serve-assets.ts'
import { uploadAsset } from './assets/upload-asset.ts'
import { createCategory } from './categories/create-category.ts'
import { deleteCategory } from './categories/delete-category.ts'
import { listCategories } from './categories/list-categories.ts'
import { updateCategory } from './categories/update-category.ts'
import { applyImportBatches } from './imports/apply-import-batches.ts'
import { createProduct } from './products/create-product.ts'
import { deleteProduct } from './products/delete-product.ts'
import { getProduct } from './products/get-product.ts'
import { listProducts } from './products/list-products.ts'
import { refreshProducts } from './products/refresh-products.ts'
import { updateProduct } from './products/update-product.ts'
import { releaseStock } from './stock/release-stock.ts'
import { takeStock } from './stock/take-stock.ts'
import { deleteTag } from './tags/delete-tag.ts'
import { listTags } from './tags/list-tags.ts'
import { createVariant } from './variants/create-variant.ts'
import { deleteVariant } from './variants/delete-variant.ts'
import { updateVariant } from './variants/update-variant.ts'

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
    operations: [
      createProduct,
      getProduct,
      listProducts,
      updateProduct,
      deleteProduct,
      createVariant,
      updateVariant,
      deleteVariant,
      listCategories,
      createCategory,
      updateCategory,
      deleteCategory,
      listTags,
      deleteTag,
      uploadAsset(storage),
      readAsset,
      takeStock,
      releaseStock,
    ],
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
