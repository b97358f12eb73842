import { runService } from '@backoffice/service/run-service.ts'
import { createAdminApp, createGatewayApp, type GatewayOptions } from './app.ts'
import { appsClient } from './apps/apps-client.ts'
import { recordActsOfApps } from './audit/record-acts-of-apps.ts'
import { operatorAuthenticator } from './authorization/operator-authenticator.ts'
import { GatewayConfig } from './config.ts'
import { KEPT_TABLES } from './deletions/kept-tables.ts'
import { authenticator } from './keys/authenticator.ts'
import { LOOK_UPS_AT_ONCE } from './keys/batched-look-ups.ts'
import { keyFormat } from './keys/key-format.ts'
import { keyUses } from './keys/key-uses.ts'
import { componentsOf, openUpstreams } from './proxy/upstream.ts'

await runService('gateway', GatewayConfig, ({ config, logger, db, openPool, consume }) => {
  const worker = openPool('worker', { role: 'worker' })
  const unverified = openPool('unverified keys', { role: 'worker', poolSize: LOOK_UPS_AT_ONCE })
  const uses = keyUses(worker, logger)
  const format = keyFormat(config.API_KEY_CHECK_KEYS)
  if (config.API_KEY_CHECK_KEYS === undefined) {
    logger.warn('API_KEY_CHECK_KEYS is not set: new API keys end with a CRC32, which anybody can compute')
  }
  const keys = authenticator({ format, worker, unverified, uses })
  const upstreams = openUpstreams(config)
  const apps = appsClient(config.APPS_URL, config.INTERNAL_TOKEN_PRIVATE_KEY)
  const operators = operatorAuthenticator(worker, config.ADMIN_TOKEN)
  const { ADMIN_PORT } = config
  const options: GatewayOptions = {
    logger,
    db,
    worker,
    authenticator: keys,
    format,
    upstreams,
    apps,
    operators,
    trustedProxies: config.TRUSTED_PROXIES,
    isAdminApart: ADMIN_PORT !== undefined,
    publicUrl: config.PUBLIC_URL,
    tokenKey: config.INTERNAL_TOKEN_PRIVATE_KEY,
    rateLimit: { perSecond: config.RATE_LIMIT_PER_MINUTE / 60, burst: config.RATE_LIMIT_BURST },
  }
  return {
    app: createGatewayApp(options),
    further: ADMIN_PORT === undefined ? [] : [{ app: createAdminApp(options), port: ADMIN_PORT }],
    components: [uses, keys, operators, apps, ...componentsOf(upstreams)],
    consumers: [consume(recordActsOfApps, worker)],
    workspaces: { keptTables: KEPT_TABLES },
  }
})
