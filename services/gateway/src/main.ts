import { runService } from '@backoffice/service/run-service.ts'
import { createGatewayApp } from './app.ts'
import { GatewayConfig } from './config.ts'
import { KEPT_TABLES } from './deletions/kept-tables.ts'
import { authenticator } from './keys/authenticator.ts'
import { componentsOf, openUpstreams } from './proxy/upstream.ts'

await runService('gateway', GatewayConfig, ({ config, logger, db, openPool }) => {
  const worker = openPool('worker', { role: 'worker' })
  const keys = authenticator(worker)
  const upstreams = openUpstreams(config)
  const app = createGatewayApp({
    logger,
    db,
    worker,
    authenticator: keys,
    upstreams,
    adminToken: config.ADMIN_TOKEN,
    tokenKey: config.INTERNAL_TOKEN_PRIVATE_KEY,
    rateLimit: { perSecond: config.RATE_LIMIT_PER_MINUTE / 60, burst: config.RATE_LIMIT_BURST },
  })
  return { app, components: [keys, ...componentsOf(upstreams)], workspaces: { keptTables: KEPT_TABLES } }
})
