import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { type CpuTime, cpuTime } from './cpu-time.ts'
import { type EventPublisher, eventPublisher } from './events.ts'
import { holdFanOut } from './hold-fan-out.ts'
import { signedPosts } from './post-floor.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type Subscription, subscribe, type WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

const ENDPOINTS = 50
const FLOOR_POSTS = 200_000
const WINDOW_MS = 10_000
/** Deliveries of the warm-up. The rate of its second half decides how many deliveries the window needs. */
const WARM_UP = 40_000
/** Events for so many seconds of work are published before the window begins, and none within it. */
const PUBLISHED_S = 24

interface Sustained {
  readonly seconds: number
  readonly perSecond: number
  /** CPU milliseconds per delivery. */
  readonly cpu: CpuTime
}

/**
 * Deliveries per second from Kafka, where all events wait already, to DELIVERED in the table. Beside signed POSTs to
 * the same receiver without any storage.
 */
export async function measureDeliveries(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver(ENDPOINTS)
  const floor = await signedPosts(receiver.url(0), FLOOR_POSTS)
  const urls = Array.from({ length: ENDPOINTS }, (_, index) => receiver.url(index))
  const rows: Row[] = []
  for (const [what, workspaces] of [
    [`an event to 1 of ${ENDPOINTS} endpoints`, urls.map((url) => [url])],
    [`an event to all of ${ENDPOINTS} endpoints`, [urls]],
  ] as const) {
    const subscription = await subscribe(place, workspaces)
    rows.push(...rowsOf(what, await sustained(place, subscription, receiver), floor))
    await subscription.end()
  }
  receiver.stop()
  return rows
}

function rowsOf(what: string, { seconds, perSecond, cpu }: Sustained, floor: number): Row[] {
  const { 'webhook-delivery': service, postgres, kafka, receiver } = cpu
  const together = `${service.toFixed(2)} + ${postgres.toFixed(2)} = ${(service + postgres).toFixed(2)} ms`
  return [
    {
      name: `deliveries, ${what}`,
      measured: `${perSecond.toFixed(0)}/s over ${seconds.toFixed(0)} s`,
      floor: `${floor.toFixed(0)}/s signed POSTs`,
      ratio: perSecond / floor,
      bound: '≥ 5000/s, ratio ≥ 0.2',
    },
    {
      name: `CPU of webhook-delivery + PostgreSQL per delivery, ${what}`,
      measured: `${together} (Kafka ${kafka.toFixed(2)}, receiver ${receiver.toFixed(2)})`,
      bound: '≤ 0.4 ms',
    },
  ]
}

async function sustained(place: WebhookPlace, subscription: Subscription, receiver: Receiver): Promise<Sustained> {
  const publisher = await eventPublisher(place.description())
  const perEvent = subscription.endpointIds.length / subscription.workspaceIds.length
  const run = { publisher, receiver, perEvent, workspaceIds: subscription.workspaceIds }
  await deliver(run, WARM_UP / 2)
  const perSecond = await deliver(run, WARM_UP / 2)

  await receiver.begin()
  const release = await holdFanOut(place)
  const deliveries = await publish(run, perSecond * PUBLISHED_S)
  await release()
  await receiver.until(Math.ceil(perSecond))
  const [cpuBefore, begin] = [cpuTime(place.directory, receiver.pid), Date.now()]
  while (Date.now() - begin < WINDOW_MS && (await receiver.count()) < deliveries * 0.95) await pause(500)
  const [cpuAfter, end] = [cpuTime(place.directory, receiver.pid), Date.now()]
  await receiver.until(deliveries, 120_000)
  await publisher.stop()
  const count = await deliveredBetween(place, subscription, begin, end)
  const millisecondsOf = (name: keyof CpuTime) => ((cpuAfter[name] - cpuBefore[name]) * 1000) / count
  const cpu = {
    'webhook-delivery': millisecondsOf('webhook-delivery'),
    postgres: millisecondsOf('postgres'),
    kafka: millisecondsOf('kafka'),
    receiver: millisecondsOf('receiver'),
  }
  const seconds = (end - begin) / 1000
  return { seconds, perSecond: count / seconds, cpu }
}

interface Run {
  readonly publisher: EventPublisher
  readonly receiver: Receiver
  readonly workspaceIds: readonly string[]
  /** The number of deliveries of an event. */
  readonly perEvent: number
}

/** Publishes events for at least `deliveries` deliveries. Returns the exact number. */
async function publish({ publisher, workspaceIds, perEvent }: Run, deliveries: number): Promise<number> {
  const events = Math.ceil(deliveries / perEvent)
  await publisher.publishMany(workspaceIds, events)
  return events * perEvent
}

/** Publishes events for these deliveries and waits for them. Returns deliveries per second. */
async function deliver(run: Run, deliveries: number): Promise<number> {
  await run.receiver.begin()
  const startedAt = performance.now()
  await run.receiver.until(await publish(run, deliveries))
  return (deliveries * 1000) / (performance.now() - startedAt)
}

/** Counts after the measurement, so that counting does not slow it down. */
async function deliveredBetween(place: WebhookPlace, subscription: Subscription, begin: number, end: number) {
  const sql = postgres(place.description().postgres, { max: 1, connection: { search_path: 'webhook_delivery' } })
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from delivery
    where workspace_id = any(${[...subscription.workspaceIds]}::uuid[])
      and endpoint_id = any(${[...subscription.endpointIds]}::uuid[])
      and status = 'DELIVERED' and delivered_at >= ${new Date(begin)} and delivered_at < ${new Date(end)}`
  await sql.end()
  return row.count
}
