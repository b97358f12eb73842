import { resolveName } from '@backoffice/outbound/forbidden-target.ts'
import { guardedAgent, KEEP } from '@backoffice/outbound/guarded-agent.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { makeCalls } from './calls/make-calls.ts'
import { measureCalls } from './calls/measure-calls.ts'
import { platformClient } from './calls/platform-client.ts'
import { reportUnknownKeys } from './calls/sealed-secrets.ts'
import { checkApps } from './check/check-apps.ts'
import { AppsConfig } from './config.ts'
import { ownWorkspaces } from './drafts/own-workspaces.ts'
import { uninstallAll } from './installations/uninstall-app.ts'
import { operations } from './operations.ts'
import { POOLS } from './pools.ts'
import { deleteApps } from './sweeps/delete-apps.ts'
import { sweepInstallations } from './sweeps/sweep-installations.ts'
import { appTokens } from './tokens/app-tokens.ts'
import { addPublicKeys } from './tokens/token-keys.ts'

/** No connection is kept: on a kept one a request that the app does not answer is sent a second time (OP-99). */
const APP_CONNECTIONS = { ...KEEP, perOrigin: 0 }

await runService('apps', AppsConfig, POOLS, ({ config, tokens: { signer }, db, logger, pools }) => {
  const { APP_SECRET_KEYS: secretKeys, APP_TOKEN_KEYS: tokenKeys, APP_RETRY_DELAYS: schedule } = config
  const policy = { allowLoopback: config.APPS_ALLOW_LOOPBACK }
  const { worker, calls: callers } = pools
  const platform = platformClient(config, signer)
  /** A sweep asks for much at once: it has connections of its own, and delays no call. */
  const platformOfSweeps = platformClient(config, signer)
  const workspaces = ownWorkspaces(config.GATEWAY_URL, signer)
  const tokens = appTokens(tokenKeys, config.PLATFORM_ISSUER)
  const agent = guardedAgent(policy, { proxy: config.EGRESS_PROXY_URL, keep: APP_CONNECTIONS })
  const app = { agent, answerMs: config.APP_ANSWER_TIMEOUT }
  const calls = makeCalls({ db: callers, worker, platform, tokens, app, secretKeys, schedule, logger })
  return {
    worker,
    operations: operations({
      db,
      worker,
      tokens,
      app,
      secretKeys,
      policy,
      resolve: resolveName,
      workspaceOf: workspaces.workspaceOf,
      wake: calls.wake,
    }),
    checks: { 'check-apps': checkApps },
    addRoutes: (http) => addPublicKeys(http, tokenKeys),
    components: [platform, platformOfSweeps, workspaces, reportUnknownKeys(worker, secretKeys, logger)],
    workers: [
      calls,
      sweepInstallations({ db: callers, worker, platform: platformOfSweeps, schedule, logger }),
      deleteApps({ db: callers, worker, logger, wake: calls.wake }),
      measureCalls(worker, logger),
    ],
    workspaces: uninstallAll(calls.wake),
  }
})
