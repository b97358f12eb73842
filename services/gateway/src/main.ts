import { runService } from '@backoffice/service/run-service.ts'
import { createGatewayApp } from './app.ts'
import { appsClient } from './apps/apps-client.ts'
import { recordActsOfApps } from './audit/record-acts-of-apps.ts'
import { GatewayConfig } from './config.ts'
import { authenticator } from './keys/authenticator.ts'
import { componentsOf, openUpstreams } from './proxy/upstream.ts'

await runService('gateway', GatewayConfig, ({ config, logger, db, openPool, consume }) => {
  const worker = openPool('worker', { role: 'worker' })
  const keys = authenticator(worker)
  const upstreams = openUpstreams(config)
  const apps = appsClient(config.APPS_URL, config.INTERNAL_TOKEN_PRIVATE_KEY)
  const app = createGatewayApp({
    logger,
    db,
    worker,
    authenticator: keys,
    upstreams,
    apps,
    adminToken: config.ADMIN_TOKEN,
    publicUrl: config.PUBLIC_URL,
    tokenKey: config.INTERNAL_TOKEN_PRIVATE_KEY,
    rateLimit: { perSecond: config.RATE_LIMIT_PER_MINUTE / 60, burst: config.RATE_LIMIT_BURST },
  })
  return {
    app,
    components: [keys, apps, ...componentsOf(upstreams)],
    consumers: [consume(recordActsOfApps, worker)],
  }
})
