import { randomUUID } from 'node:crypto'
import type { EventRecord } from '@backoffice/contracts/events.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { consumer } from '@backoffice/messaging/consumer.ts'
import type { Kafka } from '@backoffice/messaging/kafka-connection.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { Dispatcher, type DispatcherOptions } from './deliveries/dispatcher.ts'
import { PLANS_ONCE } from './deliveries/plans.ts'
import { recoveryWorker } from './deliveries/recovery-worker.ts'
import { endpointDirectory } from './endpoints/endpoint-directory.ts'
import { fanOut, fanOutEvents } from './events/fan-out.ts'
import { operations } from './operations.ts'
import { SecretKeys } from './secrets/secret-box.ts'
import { guardedAgent } from './sending/guarded-agent.ts'

/** Seals the secrets of the tests. */
export const testKeys = SecretKeys.parse(`test:${Buffer.alloc(32, 1).toString('base64')}`)
const policy = { allowLoopback: true }
const SECOND = 1000

/** The specification's retry schedule. */
const SCHEDULE = [0, 60 * SECOND, 300 * SECOND, 1800 * SECOND, 7200 * SECOND, 21_600 * SECOND]

/** An event of a caller's workspace as it comes from Kafka. */
export const anEvent = (caller: Caller, differences: Partial<EventRecord> = {}): EventRecord => ({
  id: randomUUID(),
  type: 'product.created',
  workspace_id: caller.workspaceId,
  livemode: caller.livemode,
  occurred_at: new Date().toISOString(),
  data: { id: randomUUID(), name: 'Shirt' },
  ...differences,
})

export interface CreatedEndpoint {
  id: string
  url: string
  secret: string
  enabled_events: string[]
  description: string | null
  standard_signature: boolean
  created_at: string
  updated_at: string
}

export interface ListedDelivery {
  id: string
  event_id: string
  event_type: string
  status: string
  attempts_made: number
  next_attempt_at: string | null
  created_at: string
  delivered_at: string | null
}

/** For an API without a dispatcher in its process: the replicas find what is due when they look, within a second. */
const AT_THE_NEXT_LOOK = { noteWaiting: () => undefined }

/** The service's API; names resolve to nothing, which creating and updating endpoints lets through. */
export const testedOperations = operations({
  policy,
  keys: testKeys,
  resolve: async () => [],
  dispatcher: AT_THE_NEXT_LOOK,
})

/** The service over a database of its own: its API, and as many replicas of its workers as a test starts. */
export async function webhookDelivery() {
  const database = await testDatabase('webhook-delivery')
  const send = serviceClient(database.db, testedOperations)

  const createEndpointAt = async (caller: Caller, url: string, enabledEvents = ['*']): Promise<CreatedEndpoint> =>
    (await send<CreatedEndpoint>(caller, 'POST', '/v1/webhooks', { url, enabled_events: enabledEvents })).body

  const deliveriesOf = async (caller: Caller, endpoint: { id: string }): Promise<ListedDelivery[]> =>
    (await send<{ items: ListedDelivery[] }>(caller, 'GET', `/v1/webhooks/${endpoint.id}/deliveries?limit=100`)).body
      .items

  return {
    ...database,
    send,
    createEndpointAt,
    deliveriesOf,
    startReplica: (options = {}) => startReplica(database.workerUrl, options),
  }
}

/** Starts a replica's workers. `publish` hands it events as its consumer would; `consume` starts the consumer itself. */
async function startReplica(workerUrl: string, options: Partial<DispatcherOptions>) {
  const worker = openDatabase({ url: workerUrl, applicationName: 'worker', settings: PLANS_ONCE })
  const keys = options.keys ?? testKeys
  const directory = endpointDirectory(keys, options.logger && { logger: options.logger })
  const schedule = options.schedule ?? SCHEDULE
  const dispatcher = new Dispatcher({
    sql: worker.sql,
    url: workerUrl,
    directory,
    keys,
    agent: guardedAgent(policy),
    logger: createLogger('test', 'silent'),
    stopWithinMs: 100,
    ...options,
    schedule,
  })
  await dispatcher.start()
  const recoveries = recoveryWorker(worker.sql, createLogger('test', 'silent'))
  await recoveries.start?.()
  let isStopped = false
  const stop = async () => {
    if (isStopped) return
    isStopped = true
    await recoveries.stop?.()
    await dispatcher.stop()
    await worker.stop?.()
  }
  whenDone(stop)

  const publish = async (...events: EventRecord[]) => {
    const incoming = events.map((value) => ({ key: String((value.data as { id: string }).id), value }))
    const handOver = await inTransaction(worker.sql, (tx) =>
      fanOutEvents({ directory, dispatcher, schedule }, tx, incoming),
    )
    handOver()
  }
  const consume = async (kafka: Kafka) => {
    const context = { kafka, db: worker, logger: createLogger('test', 'silent'), fatal: () => undefined }
    const started = consumer(fanOut({ directory, dispatcher, schedule }), context)
    await started.start()
    whenDone(() => started.stop())
  }
  return { dispatcher, publish, consume, stop }
}
