import { resolveName } from '@backoffice/outbound/forbidden-target.ts'
import { guardedAgent } from '@backoffice/outbound/guarded-agent.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { WebhookDeliveryConfig } from './config.ts'
import { dailyPartitions } from './deliveries/daily-partitions.ts'
import { Dispatcher } from './deliveries/dispatcher.ts'
import { PLANS_ONCE } from './deliveries/plans.ts'
import { recoveryWorker } from './deliveries/recovery-worker.ts'
import { endpointDirectory } from './endpoints/endpoint-directory.ts'
import { erasureWorker } from './erasures/erasure-worker.ts'
import { noteErasures } from './erasures/note-erasures.ts'
import { backlogWorker } from './events/backlog-worker.ts'
import { fanOut } from './events/fan-out.ts'
import { operations } from './operations.ts'
import { pauseDeliveries } from './workspaces/pause-deliveries.ts'

await runService('webhook-delivery', WebhookDeliveryConfig, ({ config, logger, fatal, openPool, consume }) => {
  const { WEBHOOK_SECRET_KEYS: keys, WEBHOOK_RETRY_DELAYS: schedule, WORKER_DATABASE_URL: url } = config
  const mostEndpoints = config.WEBHOOK_ENDPOINTS_PER_WORKSPACE
  const policy = { allowLoopback: config.WEBHOOK_ALLOW_LOOPBACK }
  const worker = openPool('worker', { role: 'worker', settings: PLANS_ONCE })
  const directory = endpointDirectory(keys, { logger, onUnknownKey: (error) => fatal('cannot sign', error) })
  const agent = guardedAgent(policy, { proxy: config.EGRESS_PROXY_URL })
  const dispatcher = new Dispatcher({ sql: worker.sql, url, directory, keys, agent, logger, schedule })
  const writing = { directory, dispatcher, schedule }
  const backlog = backlogWorker({ ...writing, sql: worker.sql, logger })
  return {
    worker,
    operations: operations({ policy, keys, resolve: resolveName, mostEndpoints, dispatcher }),
    components: [dailyPartitions(worker.sql, logger), dispatcher, backlog],
    consumers: [consume(fanOut({ ...writing, backlog }), worker), consume(noteErasures, worker)],
    workers: [recoveryWorker(worker.sql, logger), erasureWorker(worker.sql, logger)],
    workspaces: pauseDeliveries,
  }
})
