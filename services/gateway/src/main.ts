import { runService } from '@backoffice/service/run-service.ts'
import { createAdminApp, createGatewayApp, type GatewayOptions } from './app.ts'
import { operatorAuthenticator } from './authorization/operator-authenticator.ts'
import { GatewayConfig } from './config.ts'
import { authenticator } from './keys/authenticator.ts'
import { keyUses } from './keys/key-uses.ts'
import { componentsOf, openUpstreams } from './proxy/upstream.ts'

await runService('gateway', GatewayConfig, ({ config, logger, db, openPool }) => {
  const worker = openPool('worker', { role: 'worker' })
  const uses = keyUses(worker, logger)
  const keys = authenticator(worker, uses)
  const upstreams = openUpstreams(config)
  const operators = operatorAuthenticator(worker, config.ADMIN_TOKEN)
  const { ADMIN_PORT } = config
  const options: GatewayOptions = {
    logger,
    db,
    worker,
    authenticator: keys,
    upstreams,
    operators,
    isAdminApart: ADMIN_PORT !== undefined,
    tokenKey: config.INTERNAL_TOKEN_PRIVATE_KEY,
    rateLimit: { perSecond: config.RATE_LIMIT_PER_MINUTE / 60, burst: config.RATE_LIMIT_BURST },
  }
  return {
    app: createGatewayApp(options),
    further: ADMIN_PORT === undefined ? [] : [{ app: createAdminApp(options), port: ADMIN_PORT }],
    components: [uses, keys, operators, ...componentsOf(upstreams)],
  }
})
