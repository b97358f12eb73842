import { fileURLToPath } from 'node:url'
import { httpServer } from '@backoffice/http/server.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { migrationsApplied } from '@backoffice/postgres/migrations-applied.ts'
import { ProcessConfig, readConfig } from '@backoffice/runtime/config.ts'
import { runProcess } from '@backoffice/runtime/process.ts'
import { z } from 'zod'
import { createGatewayApp } from './app.ts'
import { authenticator } from './keys/authenticator.ts'
import { FILE_UPSTREAM, openUpstream } from './proxy/upstream.ts'

const GatewayConfig = ProcessConfig.extend({
  DATABASE_URL: z.url(),
  WORKER_DATABASE_URL: z.url(),
  CATALOG_URL: z.url(),
  COLLECTIONS_URL: z.url(),
  WEBHOOK_DELIVERY_URL: z.url(),
  INTERNAL_TOKEN_PRIVATE_KEY: z.base64(),
  ADMIN_TOKEN: z.string().min(16),
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(6000),
  RATE_LIMIT_BURST: z.coerce.number().int().min(1).default(200),
})

const config = readConfig(GatewayConfig)

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

await runProcess('gateway', config, ({ logger }) => {
  const db = openDatabase({ url: config.DATABASE_URL, applicationName: 'gateway' })
  const worker = openDatabase({ url: config.WORKER_DATABASE_URL, applicationName: 'gateway worker' })
  const keys = authenticator(worker)
  const upstreams = {
    catalog: openUpstream('catalog', config.CATALOG_URL),
    collections: openUpstream('collections', config.COLLECTIONS_URL),
    'webhook-delivery': openUpstream('webhook-delivery', config.WEBHOOK_DELIVERY_URL),
  }
  const files = openUpstream('catalog', config.CATALOG_URL, FILE_UPSTREAM)
  const app = createGatewayApp({
    logger,
    db,
    worker,
    authenticator: keys,
    upstreams,
    files,
    adminToken: config.ADMIN_TOKEN,
    tokenKey: config.INTERNAL_TOKEN_PRIVATE_KEY,
    rateLimit: { perSecond: config.RATE_LIMIT_PER_MINUTE / 60, burst: config.RATE_LIMIT_BURST },
  })
  return [
    db,
    migrationsApplied(db, MIGRATIONS),
    worker,
    keys,
    ...Object.values(upstreams),
    files,
    httpServer(app, config),
  ]
})
