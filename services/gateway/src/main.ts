import { operatorRequests } from '@backoffice/service/operator-requests.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { recordActsOfApps } from './admin/audit/record-acts-of-apps.ts'
import { expireRequests, requestLog } from './admin/requests/request-log.ts'
import { KEPT_TABLES } from './admin/workspaces/get-deletion.ts'
import { createAdminApp, createGatewayApp, type GatewayOptions } from './app.ts'
import { GatewayConfig } from './config.ts'
import { keyUses } from './credentials/key-uses.ts'
import { Authenticator } from './credentials/keys/authenticator.ts'
import { keyFormat } from './credentials/keys/key-format.ts'
import { operatorAuthenticator } from './credentials/operators/operator-authenticator.ts'
import { POOLS } from './pools.ts'
import { expireCounts, requestCounts } from './public/proxy/request-counts.ts'
import { openRateLimiter, standardLimit } from './public/rate-limit/rate-limiter.ts'
import { AppsClient } from './public/upstreams/apps-client.ts'
import { ServiceCalls } from './public/upstreams/service-calls.ts'
import { componentsOf, openUpstreams } from './public/upstreams/upstream.ts'

await runService('gateway', GatewayConfig, POOLS, ({ config, tokens, logger, db, pools, consume, kafka }) => {
  const { worker, unverified } = pools
  const uses = keyUses(worker, logger)
  const format = keyFormat(config.API_KEY_CHECK_KEYS)
  if (config.API_KEY_CHECK_KEYS === undefined) {
    logger.warn('API_KEY_CHECK_KEYS is not set: new API keys end with a CRC32, which anybody can compute')
  }
  const upstreams = openUpstreams(config)
  const requests = requestLog(worker, logger)
  const apps = new AppsClient(config.APPS_URL, tokens.signer)
  const services = new ServiceCalls(config, tokens.signer, operatorRequests({ name: 'gateway', kafka, worker }))
  const operators = operatorAuthenticator(worker, config.ADMIN_TOKEN, uses)
  const keys = new Authenticator({ format, worker, unverified, uses, operators })
  const limiter = openRateLimiter(config, logger)
  const counts = requestCounts(worker, logger)
  const { ADMIN_PORT } = config
  const options: GatewayOptions = {
    logger,
    db,
    worker,
    lists: pools.lists,
    authenticator: keys,
    uses,
    requests,
    format,
    upstreams,
    apps,
    services,
    operators,
    trustedProxies: config.TRUSTED_PROXIES,
    isAdminApart: ADMIN_PORT !== undefined,
    publicUrl: config.PUBLIC_URL,
    assetsUrl: config.ASSETS_URL,
    tokens,
    takeCall: limiter.takeCall,
    standardLimit: standardLimit(config),
    noteRequest: counts.note,
  }
  return {
    app: createGatewayApp(options),
    further: ADMIN_PORT === undefined ? [] : [{ app: createAdminApp(options), port: ADMIN_PORT }],
    components: [
      uses,
      requests,
      expireRequests(worker, logger),
      counts,
      expireCounts(worker, logger),
      keys,
      operators,
      apps,
      services,
      ...limiter.components,
      ...componentsOf(upstreams),
    ],
    consumers: [consume(recordActsOfApps, worker)],
    workspaces: { keptTables: KEPT_TABLES },
  }
})
