import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { EventRecord } from '@backoffice/contracts/events.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { consumer } from '@backoffice/messaging/consumers/consumer.ts'
import type { Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { guardedAgent } from '@backoffice/outbound/guarded-agent.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { databaseClock } from '@backoffice/postgres/database-clock.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { type Send, serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import type { z } from 'zod'
import { Dispatcher } from '../dispatch/dispatcher.ts'
import type { DispatcherOptions } from '../dispatch/dispatcher-options.ts'
import type { EndpointWithSecret } from '../endpoints/endpoint.ts'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { backlogWorker } from '../events/backlog-worker.ts'
import { fanOut } from '../events/fan-out.ts'
import type { Delivery } from '../history/delivery.ts'
import { operations } from '../operations.ts'
import { recoveryWorker } from '../recoveries/recovery-worker.ts'

/** Seals the secrets of the tests. */
export const testKeys = SecretKeys.parse(`test:${Buffer.alloc(32, 1).toString('base64')}`)
const policy = { allowLoopback: true }
const SECOND = 1000

/** The most endpoints of a workspace. */
export const MOST_ENDPOINTS = 500

/** The specification's retry schedule. */
const SCHEDULE = [0, 60 * SECOND, 300 * SECOND, 1800 * SECOND, 7200 * SECOND, 21_600 * SECOND]

/** An event record of a caller's workspace. */
export const anEvent = (caller: Caller, differences: Partial<EventRecord> = {}): EventRecord => ({
  id: randomUUID(),
  type: 'product.created',
  workspace_id: caller.workspaceId,
  livemode: caller.livemode,
  occurred_at: new Date().toISOString(),
  data: { id: randomUUID(), name: 'Shirt' },
  ...differences,
})

export type CreatedEndpoint = z.output<typeof EndpointWithSecret>
export type ListedDelivery = z.output<typeof Delivery>

/** The API, but for what reads across workspaces. Names resolve to no address, which the operations accept. */
export const testedOperations = operations({
  policy,
  keys: testKeys,
  resolve: async () => [],
  mostEndpoints: MOST_ENDPOINTS,
  worker: {} as never,
})

/** Resolves when attempts see the changes made before: what was read of an endpoint within 5 ms counts (OP-97). */
export const untilChangesCount = () => pause(10)

/** The service's API over a new database, and a function that starts replicas of its workers. */
export async function webhookDelivery() {
  const database = await testDatabase('webhook-delivery')
  const client = serviceClient(database.db, testedOperations)

  const send: Send = async (caller, method, path, body, headers) => {
    const answer = await client<never>(caller, method, path, body, headers)
    const mayChangeAnEndpoint = method !== 'GET' && path.startsWith('/v1/webhooks/')
    if (mayChangeAnEndpoint) await untilChangesCount()
    return answer
  }

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
    startReplica: (options: ReplicaOptions = {}) => startReplica(database.workerUrl, options),
  }
}

type ReplicaOptions = Partial<DispatcherOptions> & { readonly keys?: SecretKeys; readonly stopWithinMs?: number }

/** Starts a replica's workers. `publish` passes events to the fan-out without Kafka; `consume` starts the consumer. */
async function startReplica(workerUrl: string, { keys = testKeys, stopWithinMs = 1100, ...options }: ReplicaOptions) {
  const worker = openDatabase({ url: workerUrl, applicationName: 'worker', settings: PLAN_ONCE_BY_KEYS })
  const directory = endpointDirectory(keys, options.logger)
  const schedule = options.schedule ?? SCHEDULE
  const databaseTime = databaseClock(worker.sql, createLogger('test', 'silent'))
  await databaseTime.start?.()
  const clock = options.clock ?? databaseTime.now
  const dispatcher = new Dispatcher({
    sql: worker.sql,
    server: { url: workerUrl },
    directory,
    agent: guardedAgent(policy),
    processNumber: randomInt(2 ** 31),
    onDied: () => undefined,
    logger: createLogger('test', 'silent'),
    ...options,
    schedule,
    clock,
  })
  await dispatcher.start()
  const logger = createLogger('test', 'silent')
  const writing = { directory, dispatcher, schedule, clock }
  const backlog = backlogWorker({ ...writing, sql: worker.sql, logger })
  await backlog.start?.()
  const recoveries = recoveryWorker(worker.sql, createLogger('test', 'silent'))
  await recoveries.start?.()
  let isStopped = false
  const stop = async () => {
    if (isStopped) return
    isStopped = true
    await recoveries.stop?.()
    await backlog.stop?.()
    await dispatcher.stop(performance.now() + stopWithinMs)
    await databaseTime.stop?.()
    await worker.stop?.()
  }
  whenDone(stop)

  const { handle, handleAtOnce } = fanOut({ ...writing, backlog })
  const publish = async (...events: EventRecord[]) => {
    const incoming = events.map((value, index) => ({
      ...{ topic: 'events', partition: 0, offset: String(index), traceparent: undefined },
      ...{ key: String((value.data as { id: string }).id), value },
    }))
    const atOnce = await handleAtOnce?.(incoming, worker.sql)
    const afterCommit = atOnce ?? (await inTransaction(worker.sql, (tx) => handle(incoming, tx)))
    afterCommit?.()
  }
  const consume = async (kafka: Kafka) => {
    const context = { kafka, db: worker, logger: createLogger('test', 'silent'), fatal: () => undefined }
    const started = consumer(fanOut({ ...writing, backlog }), context)
    await started.start()
    whenDone(() => started.stop())
  }
  return { dispatcher, publish, consume, stop }
}
