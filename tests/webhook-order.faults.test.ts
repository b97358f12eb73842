import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '@backoffice/testing/eventually.ts'
import type { ManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it, vi } from 'vitest'
import { type Load, publishBurst, startLoad } from './testing/platform-load.ts'
import { startReplica } from './testing/replica.ts'
import { type Disturbance, mostInFlight, overtaken, type Sightings, sightingsOf } from './testing/webhook-order.ts'
import { reconciled, untilDelivered } from './testing/webhook-proof.ts'
import {
  answerAfter,
  type EndpointReceiver,
  MISBEHAVIOURS,
  startEndpointReceiver,
} from './testing/webhook-receivers.ts'
import { startWebhookStack } from './testing/webhook-stack.ts'

/** A machine that runs other things beside needs long. */
vi.setConfig({ testTimeout: 600_000 })
const { database, stack, sql, producer, subscribed } = await startWebhookStack()

const RECOVERY_MS = 180_000
/** The name of the sessions that own endpoints. */
const LOCK_SESSION = 'webhook-delivery shards'
const [QUICK_MS, SLOW_MS] = [30, 1100]
/** Shorter and longer than PostgreSQL keeps the session of a process that stands still, in turn. */
const FREEZES_MS = [7000, 15_000]
/** Time for both, and for two kills. */
const STORM_MS = 33_000
/** What one kill or freeze repeats at most: what was in flight to four endpoints, or not recorded yet. */
const REPEATED = 4 * 128
const EXACT: Sightings = { lost: 0, overtaken: 0, together: 0, beyondLimit: 0, again: 0, unduly: 0 }

/** The stack's own process is one of them; the others end with the test. */
const startReplicas = (count: number): Promise<ManagedProcess[]> =>
  Promise.all(Array.from({ length: count - 1 }, () => startReplica(stack, 'webhook-delivery')))

const receiversAfter = (count: number, ms: number) =>
  Promise.all(Array.from({ length: count }, () => startEndpointReceiver(answerAfter(ms))))

/** Publishes so many events of each object at once, and waits until all are delivered. */
async function burst(receivers: readonly EndpointReceiver[], size: { objects: number; each: number }) {
  const { id } = await subscribed(receivers)
  const published = await publishBurst(producer, id, size)
  await untilDelivered(sql, id, { events: published.events, endpoints: receivers.length }, RECOVERY_MS)
  return sightingsOf(receivers, published)
}

/**
 * Events of many objects to endpoints that do not answer meanwhile: the most attempts that one of them has in flight.
 */
async function unanswered(meanwhile: () => Promise<unknown>): Promise<number> {
  const receivers = await Promise.all(Array.from({ length: 10 }, () => startEndpointReceiver(MISBEHAVIOURS.hang)))
  const { id } = await subscribed(receivers)
  const { events } = await publishBurst(producer, id, { objects: 30, each: 1 })
  await eventually('each has an attempt', () => receivers.every(({ requests }) => requests.length > 0))
  await meanwhile()
  const most = Math.max(...receivers.map(mostInFlight))
  for (const receiver of receivers) receiver.recover()
  await untilDelivered(sql, id, { events, endpoints: receivers.length }, RECOVERY_MS)
  return most
}

/**
 * Publishes fifty events a second, which two endpoints get, and three in two seconds for two endpoints that take
 * longer
 * than a second, while `disturb` runs. Waits until all are delivered.
 */
async function underLoad(disturb: (load: Load, arrived: () => number) => Promise<readonly Disturbance[]>) {
  const since = new Date()
  const shops = await Promise.all(
    [
      { receivers: await receiversAfter(2, QUICK_MS), perSecond: 50, objects: 8 },
      { receivers: await receiversAfter(2, SLOW_MS), perSecond: 1.5, objects: 3 },
    ].map(async ({ receivers, perSecond, objects }) => {
      const { id } = await subscribed(receivers)
      return { receivers, id, load: startLoad(producer, id, perSecond, { isPoisoned: false, objects }) }
    }),
  )
  const [{ receivers: quick, load }] = shops as [(typeof shops)[number]]
  await eventually('there is load', () => quick.every(({ arrivals }) => arrivals.size > 100))
  const disturbances = await disturb(load, () => quick[0]?.arrivals.size ?? 0)
  await Promise.all(shops.map(({ load }) => load.stop()))
  const seen: Sightings[] = []
  for (const { receivers, id, load } of shops) {
    await untilDelivered(sql, id, { events: load.events, endpoints: receivers.length }, RECOVERY_MS)
    const sightings = sightingsOf(receivers, load, disturbances)
    const failed = sightings.overtaken === 0 ? 0 : await failedFirst(receivers, load)
    seen.push({ ...sightings, overtaken: sightings.overtaken - failed })
  }
  await reconciled(stack, since)
  return { quick: seen[0], slow: seen[1], events: load.events.length }
}

/**
 * How many of the overtaken events had a first attempt that failed, as one does on a connection that the receiver
 * closes at that moment: a retry waits, and later events do not wait for it (OP-74). Prints what is known of all.
 */
async function failedFirst(receivers: readonly EndpointReceiver[], load: Load): Promise<number> {
  let failed = 0
  for (const { url, arrivals } of receivers) {
    for (const id of overtaken(arrivals, load)) {
      const attempts = await sql<{ number: number; error_class: string | null }[]>`
        select attempt.number, attempt.started_at, duration_ms, error_class, error_message
        from webhook_delivery.delivery
        join webhook_delivery.attempt on attempt.workspace_id = delivery.workspace_id and delivery_id = delivery.id
        join webhook_delivery.endpoint on endpoint.id = endpoint_id and endpoint.url = ${url}
        where event_id = ${id} order by attempt.number`
      console.log(`overtaken: ${id}, arrived at ${arrivals.get(id)} ms: ${JSON.stringify(attempts)}`)
      if (attempts.some(({ number, error_class }) => number === 1 && error_class !== null)) failed++
    }
  }
  return failed
}

/** Waits until an event that is published from now on has arrived. */
async function untilFresh(load: Load, arrived: () => number): Promise<void> {
  const before = load.events.length
  await eventually('a fresh event arrives', () => arrived() > before, RECOVERY_MS)
}

const ownPid = () => stack.description().services['webhook-delivery']?.pid ?? 0

/** Ends the stack's own process by a signal and waits until the stack has started another. */
async function restartOwn(signal: NodeJS.Signals): Promise<void> {
  const pid = ownPid()
  process.kill(pid, signal)
  await eventually('the stack has started it again', () => ownPid() !== pid, RECOVERY_MS)
}

it.each([1, 3])('%i replicas: the order of each object is kept, and limits are those of one replica', async (count) => {
  await startReplicas(count)
  const [slow, quick] = await Promise.all([
    burst(await receiversAfter(1, SLOW_MS), { objects: 3, each: 6 }),
    burst(await receiversAfter(1, QUICK_MS), { objects: 40, each: 25 }),
  ])
  const seen = { slow, quick, unanswered: await unanswered(() => pause(3000)) }
  console.log(`${count} replicas: ${JSON.stringify(seen)}`)
  expect(seen).toEqual({ slow: EXACT, quick: EXACT, unanswered: 2 })
})

it('two replicas: order and limits are kept while one after the other leaves and joins', async () => {
  const replicas = await startReplicas(2)
  const arrivals = await underLoad(async (load, arrived) => {
    for (const replica of replicas) {
      await replica.stop()
      await untilFresh(load, arrived)
      await replica.start()
      await untilFresh(load, arrived)
      await restartOwn('SIGTERM')
      await untilFresh(load, arrived)
    }
    return []
  })
  const seen = {
    ...arrivals,
    unanswered: await unanswered(() => Promise.all(replicas.map((replica) => replica.stop()))),
  }
  console.log(`leaving and joining: ${JSON.stringify(seen)}`)
  expect(seen).toMatchObject({ quick: EXACT, slow: EXACT, unanswered: 2 })
})

it('three replicas: the order is kept while one is killed, one frozen, and one leaves and joins, again and again', async () => {
  const [frozen, leaving] = (await startReplicas(3)) as [ManagedProcess, ManagedProcess]
  whenDone(() => frozen.signal('SIGCONT'))
  let count = 0
  const seen = await underLoad(async (load, arrived) => {
    const disturbances: Disturbance[] = []
    const over = performance.now() + STORM_MS
    let freezes = 0
    const repeatedly = async (turn: () => Promise<void>, everyMs: number) => {
      while (performance.now() + everyMs < over) {
        await pause(everyMs)
        await turn()
      }
    }
    await Promise.all([
      repeatedly(async () => {
        const at = performance.now()
        disturbances.push({ from: at, until: at })
        await restartOwn('SIGKILL')
      }, 11_000),
      repeatedly(async () => {
        const from = performance.now()
        frozen.signal('SIGSTOP')
        await pause(FREEZES_MS[freezes++ % FREEZES_MS.length])
        disturbances.push({ from, until: performance.now() })
        frozen.signal('SIGCONT')
      }, 5000),
      repeatedly(async () => {
        await leaving.stop()
        await leaving.start()
      }, 11_000),
    ])
    await untilFresh(load, arrived)
    count = disturbances.length
    return disturbances
  })
  console.log(`${count} kills and freezes, leaving and joining: ${JSON.stringify(seen)}`)
  const undisturbed = { lost: 0, overtaken: 0 }
  expect(seen).toMatchObject({ quick: undisturbed, slow: undisturbed })
  // A busy machine freezes processes, too, so not by when they come again.
  const repeated = [seen.quick, seen.slow].reduce((sum, each) => sum + (each?.again ?? 0) + (each?.unduly ?? 0), 0)
  expect(repeated).toBeLessThanOrEqual(count * REPEATED)
})

it('two replicas: the order is kept when PostgreSQL ends the sessions that own endpoints, and when it is restarted', async () => {
  await startReplicas(2)
  let ended = 0
  const seen = await underLoad(async (load, arrived) => {
    const disturbances: Disturbance[] = []
    for (let round = 0; round < 5; round++) {
      const at = performance.now()
      const sessions = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${LOCK_SESSION}`
      ended += sessions.length
      disturbances.push({ from: at, until: performance.now() })
      await untilFresh(load, arrived)
      await pause(1000)
    }
    const from = performance.now()
    await database.stop()
    await pause(3000)
    await database.start()
    disturbances.push({ from, until: performance.now() })
    await untilFresh(load, arrived)
    return disturbances
  })
  console.log(`${ended} sessions ended, PostgreSQL restarted: ${JSON.stringify(seen)}`)
  expect(ended).toBeGreaterThanOrEqual(5)
  const undisturbed = { lost: 0, overtaken: 0, unduly: 0 }
  expect(seen).toMatchObject({ quick: undisturbed, slow: undisturbed })
})
