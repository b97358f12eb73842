import type { ServerResponse } from 'node:http'
import { guardedAgent } from '@backoffice/outbound/guarded-agent.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { v7 as uuidv7 } from 'uuid'
import { expect, test, vi } from 'vitest'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import type { Job } from '../scheduling/job.ts'
import { aJob } from '../scheduling/testing/a-job.ts'
import { shardOf } from '../shards/shard-of.ts'
import { testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { OwnAttempts } from './own-attempts.ts'

const { admin, createEndpointAt, workerUrl } = await webhookDelivery()
const { sql, stop } = openDatabase({ url: workerUrl, applicationName: 'own attempts', poolSize: 1 })
whenDone(() => stop?.())

/** The attempts of a process, which find their endpoints once `allow` was called, and what they left to the table. */
function attemptsThatLookUp(ownership = { isSure: true }, agent = guardedAgent({ allowLoopback: true })) {
  const [present, allowed] = [endpointDirectory(testKeys), Promise.withResolvers<void>()]
  const of: typeof present.of = (...given) => allowed.promise.then(() => present.of(...given))
  const queues = new EndpointQueues()
  const left: Job[] = []
  const attempts = new OwnAttempts({
    ...{ sql, directory: { of }, queues, schedule: [0], timeoutMs: 20_000, clock: () => new Date(), random: () => 0 },
    agent,
    ownership,
    logger: createLogger('test', 'silent'),
    intake: {
      pause: () => undefined,
      backToTable: (job) => left.push(job),
      noteEnded: () => undefined,
      wake: () => undefined,
    },
    onEnded: () => undefined,
  })
  return { queues, attempts, left, allow: allowed.resolve }
}

test('a body that was redacted while an attempt looked for its endpoint is not sent (OP-139)', async () => {
  const caller = aCaller()
  const { workspaceId } = caller
  const receiver = await startReceiver()
  const { id } = await createEndpointAt(caller, receiver.url)
  const { queues, attempts, left, allow } = attemptsThatLookUp()
  const started = ['redacted', 'other'].map((eventId) => {
    queues.add(aJob(id, { eventId }, workspaceId), performance.now())
    return queues.start(performance.now()) ?? expect.fail('not started')
  })
  const made = started.map((job) => attempts.make(job))
  attempts.noteRedacted({ workspaceId, eventIds: ['redacted'] })
  allow()
  await Promise.all(made)
  expect(left).toEqual([started[0]])
  expect(receiver.requests).toHaveLength(1)
  await attempts.ended()
})

/** A delivery in the table, and its job, whose turn it is. */
async function aStarted({ queues }: ReturnType<typeof attemptsThatLookUp>, url: string, occurredAt = new Date()) {
  const caller = aCaller()
  const { workspaceId } = caller
  const { id } = await createEndpointAt(caller, url)
  const [deliveryId, eventId] = [uuidv7(), uuidv7()]
  await admin`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    values (${workspaceId}, ${id}, ${deliveryId}, ${eventId}, 'order.paid', now(), now())`
  queues.add(aJob(id, { deliveryId, eventId, occurredAt }, workspaceId), performance.now())
  const job = queues.start(performance.now()) ?? expect.fail('not started')
  const isBusy = async () => {
    const [row] = await admin`select busy_until > clock_timestamp() as busy from delivery where id = ${deliveryId}`
    return row?.busy
  }
  return { job, shard: new Set([shardOf(id)]), isBusy }
}

test('how late a first attempt begins is measured, unless its endpoint has kept the delivery waiting', async () => {
  const measured = async () =>
    Number(/^webhook_first_attempt_delay_seconds_count (\d+)$/m.exec(await metricsText())?.[1] ?? 0)
  const receiver = await startReceiver()
  const own = attemptsThatLookUp()
  own.allow()
  const before = await measured()
  const [one, kept] = [await aStarted(own, receiver.url), await aStarted(own, receiver.url)]
  own.queues.noteResumed(kept.job.target.id, performance.now() + 1000)
  const late = await aStarted(own, receiver.url, new Date(Date.now() - 3_600_000))
  // It kept others waiting, after the event and before this delivery was made.
  own.queues.noteResumed(late.job.target.id, performance.now() - 60_000)
  await Promise.all([one, kept, late].map(({ job }) => own.attempts.make(job)))
  await own.attempts.ended()
  expect((await measured()) - before).toBe(2)
})

test('an attempt whose shard is handed over while it looks for its endpoint is not sent: the next owner may at once', async () => {
  const receiver = await startReceiver()
  const own = attemptsThatLookUp()
  const { job, shard, isBusy } = await aStarted(own, receiver.url)
  const made = own.attempts.make(job)
  await own.attempts.handOver(own.queues.drop(shard))
  expect(await isBusy()).toBe(null)
  own.allow()
  await made
  expect(receiver.requests).toEqual([])
})

test('one whose shard was lost meanwhile is not sent, also when this process has it again, and keeps the mark of another', async () => {
  const receiver = await startReceiver()
  const own = attemptsThatLookUp()
  const { job, shard, isBusy } = await aStarted(own, receiver.url)
  const made = own.attempts.make(job)
  own.queues.drop(shard)
  own.queues.addInFlight({ ...job }, performance.now())
  await admin`update delivery set busy_until = 'infinity' where id = ${job.deliveryId}`
  own.allow()
  await made
  expect(receiver.requests).toEqual([])
  expect(await isBusy()).toBe(true)
})

test('an attempt whose result was not written counts as in flight for a while: it is not made again and again', async () => {
  const receiver = await startReceiver()
  const own = attemptsThatLookUp()
  own.allow()
  const [{ job }, { job: taken }] = [await aStarted(own, receiver.url), await aStarted(own, receiver.url)]
  await admin`update delivery set attempts_made = 1 where id = ${taken.deliveryId}`
  await Promise.all([own.attempts.make(job), own.attempts.make(taken)])
  await own.attempts.ended()
  expect([own.attempts.has(job), own.attempts.has(taken)]).toEqual([false, true])
  // The table has its number: another process has recorded it.
  expect(own.attempts.has({ ...taken, attemptsMade: 1 })).toBe(false)
})

test('an attempt whose process is not sure of its shards any more once there is a connection is not sent', async () => {
  const receiver = await startReceiver()
  let asked = 0
  const own = attemptsThatLookUp({
    get isSure() {
      return ++asked === 1
    },
  })
  const { job } = await aStarted(own, receiver.url)
  own.allow()
  await own.attempts.make(job)
  expect([asked, own.left, receiver.requests]).toEqual([2, [job], []])
  await own.attempts.ended()
})

test('an attempt that goes on since before its shard was lost and taken again is marked when it is handed over', async () => {
  const receiver = await startReceiver()
  const held: ServerResponse[] = []
  receiver.answerWith((response) => void held.push(response))
  const own = attemptsThatLookUp()
  const { job, shard, isBusy } = await aStarted(own, receiver.url)
  const made = own.attempts.make(job)
  own.allow()
  await eventually('it is sent', () => held.length === 1)
  own.queues.drop(shard)
  own.queues.addInFlight({ ...job }, performance.now())
  await own.attempts.handOver(own.queues.drop(shard))
  expect(await isBusy()).toBe(true)
  held[0]?.writeHead(204).end()
  await made
  await own.attempts.ended()
})

test.each([
  ['is sent while it is marked', 0, 1],
  ['is not sent when the process stood still until its mark was over: the next owner makes it', 3_600_000, 0],
])('an attempt that is handed over before it has a connection %s', async (_, stoodStillMs, requests) => {
  const receiver = await startReceiver()
  const agent = guardedAgent({ allowLoopback: true })
  const connected = Promise.withResolvers<void>()
  const dispatch = agent.dispatch.bind(agent)
  const dispatching = vi.spyOn(agent, 'dispatch').mockImplementation((...given) => {
    void connected.promise.then(() => dispatch(...given))
    return true
  })
  const own = attemptsThatLookUp({ isSure: true }, agent)
  const { job, shard, isBusy } = await aStarted(own, receiver.url)
  const made = own.attempts.make(job)
  own.allow()
  await eventually('it connects', () => dispatching.mock.calls.length === 1)
  await own.attempts.handOver(own.queues.drop(shard))
  expect(await isBusy()).toBe(true)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + stoodStillMs })
  whenDone(() => vi.useRealTimers())
  connected.resolve()
  await made
  expect(receiver.requests).toHaveLength(requests)
  await own.attempts.ended()
})
