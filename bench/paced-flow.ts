import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { anEvent, eventPublisher } from './events.ts'
import { holdFanOut } from './hold.ts'
import { openLoop } from './load.ts'
import { type Arrival, type Receiver, sharedNow } from './receiver.ts'
import { deliverySql, type Subscription, subscribe, type WebhookPlace } from './subscribe.ts'

/** Events at a fixed rate, of workspaces in turn. */
export interface PacedFlow {
  /** The URLs of each workspace's endpoints; each gets all events of its workspace. */
  readonly urls: readonly (readonly string[])[]
  readonly perSecond: number
  /** Whether the measured events wait in Kafka until all of them are there. */
  readonly isBurst?: boolean
  /** Numbers of events. Those of the warm-up come before the others, which are measured. */
  readonly warmUp: number
  readonly events: number
  /** The events are of so many products in turn; each of another one unless given. */
  readonly products?: number
  /** The share of the endpoints that answer; all unless given. */
  readonly answering?: number
  /** How long repeated arrivals still count after all first ones; not at all unless given. */
  readonly repeatsWithinMs?: number
  /** What happens while the measured events are sent. */
  during?(): Promise<void>
}

/** The first arrival of an event at an endpoint, with the time at which it was sent to Kafka. */
export interface Received extends Arrival {
  readonly sentAt: number
}

/** What became of the measured events. Arrivals are in their order. */
export interface Flown {
  /** The ids of the events in the order in which they were sent. */
  readonly events: readonly string[]
  readonly arrivals: readonly Arrival[]
  readonly received: readonly Received[]
  /** Deliveries that did not arrive in time and wait in the table, for a retry perhaps. */
  readonly late: number
  /** Deliveries that did not arrive and wait nowhere. */
  readonly lost: number
  /** Arrivals that were repeated. */
  readonly repeated: number
}

const ARRIVED_WITHIN_MS = 120_000

/** Sends events to Kafka at a fixed rate, and waits until they have arrived at the endpoints that answer. */
export async function pacedFlow(place: WebhookPlace, receiver: Receiver, flow: PacedFlow): Promise<Flown> {
  const subscription = await subscribe(place, flow.urls)
  const publisher = await eventPublisher(place.description())
  const flown = await flowOf(receiver, flow, {
    workspaceIds: subscription.workspaceIds,
    publish: publisher.publish,
    hold: () => holdFanOut(place),
    waiting: () => waiting(place, subscription),
  })
  await subscription.end()
  await publisher.stop()
  return flown
}

/** What makes the deliveries of a flow. */
interface Sender {
  readonly workspaceIds: readonly string[]
  publish(event: ReturnType<typeof anEvent>): Promise<unknown>
  /** Makes events wait, for a burst. Returns the function that ends this. */
  hold(): Promise<() => Promise<void>>
  /** Deliveries that still wait. */
  waiting(): Promise<number>
}

/** Publishes events at a fixed rate, and waits until they have arrived at the endpoints that answer. */
export async function flowOf(receiver: Receiver, flow: PacedFlow, sender: Sender): Promise<Flown> {
  const { urls, perSecond, answering = 1 } = flow
  const deliveriesOf = (events: number) => Math.round((events * urls.flat().length * answering) / urls.length)
  const products = Array.from({ length: flow.products ?? 0 }, () => randomUUID())
  const send = async (count: number) => {
    const sentAt = new Map<string, number>()
    await openLoop(count, perSecond, (index) => {
      const event = anEvent(sender.workspaceIds[index % urls.length] ?? '', products[index % products.length])
      sentAt.set(event.id, sharedNow())
      return sender.publish(event)
    })
    return sentAt
  }
  await receiver.begin()
  await send(flow.warmUp)
  await receiver.until(deliveriesOf(flow.warmUp))
  await receiver.begin(true)
  const release = flow.isBurst ? await sender.hold() : undefined
  const [sentAt] = await Promise.all([send(flow.events), flow.during?.()])
  await release?.()
  const wanted = deliveriesOf(flow.events)
  const missing = wanted - (await receiver.within(wanted, ARRIVED_WITHIN_MS))
  const late = missing === 0 ? 0 : Math.min(missing, await sender.waiting())
  await pause(flow.repeatsWithinMs ?? 0)
  const noted = await receiver.arrivals()
  const arrivals = noted.filter(({ eventId }) => sentAt.has(eventId)).sort((a, b) => a.at - b.at)
  const received = firstOf(arrivals).map((arrival) => ({ ...arrival, sentAt: sentAt.get(arrival.eventId) ?? 0 }))
  const repeated = arrivals.length - received.length
  return { events: [...sentAt.keys()], arrivals, received, late, lost: missing - late, repeated }
}

/** Deliveries of these workspaces that still wait. */
async function waiting(place: WebhookPlace, { workspaceIds }: Subscription): Promise<number> {
  const sql = deliverySql(place)
  const [row] = await sql<[{ count: number }]>`
    select count(*)::integer from delivery where workspace_id = any(${[...workspaceIds]}::uuid[]) and status = 'PENDING'`
  await sql.end()
  return row.count
}

/** Milliseconds from sending an event to Kafka until it first arrived. */
export const delaysOf = (received: readonly Received[]): number[] => received.map(({ at, sentAt }) => at - sentAt)

/** The first arrival of each event at each endpoint. */
function firstOf(arrivals: readonly Arrival[]): Arrival[] {
  const seen = new Set<string>()
  return arrivals.filter(({ path, eventId }) => seen.size < seen.add(path + eventId).size)
}
