import { resolveName } from '@backoffice/outbound/forbidden-target.ts'
import { guardedAgent } from '@backoffice/outbound/guarded-agent.ts'
import { workerServer } from '@backoffice/postgres/database-settings.ts'
import { mergeCounts } from '@backoffice/postgres/merge-counts.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { runService } from '@backoffice/service/run-service.ts'
import { WebhookDeliveryConfig } from './config.ts'
import { Dispatcher } from './dispatch/dispatcher.ts'
import { endpointDirectory } from './endpoints/endpoint-directory.ts'
import { pauseDeliveries } from './endpoints/pause-deliveries.ts'
import { erasureWorker } from './erasures/erasure-worker.ts'
import { noteErasures } from './erasures/note-erasures.ts'
import { backlogWorker } from './events/backlog-worker.ts'
import { fanOut } from './events/fan-out.ts'
import { watchEndpoints } from './health/watch-endpoints.ts'
import { operations } from './operations.ts'
import { POOLS } from './pools.ts'
import { reconcileCheck } from './reconcile/reconcile.ts'
import { recoveryWorker } from './recoveries/recovery-worker.ts'
import { reportMissingKeys } from './secrets/secret-keys.ts'
import { dailyPartitions } from './upkeep/daily-partitions.ts'
import { measureDeliveries } from './upkeep/measure-deliveries.ts'

await runService(
  'webhook-delivery',
  WebhookDeliveryConfig,
  POOLS,
  ({ config, logger, pools: { worker }, consume, kafka }) => {
    const { WEBHOOK_SECRET_KEYS: keys, WEBHOOK_RETRY_DELAYS: schedule } = config
    const server = workerServer(config)
    const mostEndpoints = config.WEBHOOK_ENDPOINTS_PER_WORKSPACE
    const policy = { allowLoopback: config.WEBHOOK_ALLOW_LOOPBACK }
    const directory = endpointDirectory(keys, logger)
    const agent = guardedAgent(policy, { proxy: config.EGRESS_PROXY_URL })
    const dispatcher = new Dispatcher({
      ...{ sql: worker.sql, server, directory, agent, logger, schedule, clock: currentTime },
      processNumber: kafka.processNumber,
      onDied(processNumbers) {
        kafka.removeMembersOf(processNumbers).catch((error: unknown) => {
          logger.warn({ err: error }, 'could not remove a dead process from consumer groups: they wait for its session')
        })
      },
    })
    const writing = { directory, dispatcher, schedule, clock: currentTime }
    const backlog = backlogWorker({ ...writing, sql: worker.sql, logger })
    return {
      worker,
      operations: operations({ policy, keys, resolve: resolveName, mostEndpoints, worker }),
      checks: { reconcile: reconcileCheck(config, logger) },
      components: [reportMissingKeys(worker.sql, keys, logger), dailyPartitions(worker.sql, logger)],
      stages: [dispatcher, backlog],
      consumers: [consume(fanOut({ ...writing, backlog }), worker), consume(noteErasures, worker)],
      workers: [
        recoveryWorker(worker.sql, logger),
        erasureWorker(worker.sql, logger, currentTime),
        measureDeliveries(worker, logger),
        mergeCounts(worker, logger, ['daily_count']),
        watchEndpoints(worker.sql, logger),
      ],
      workspaces: pauseDeliveries,
    }
  },
)
