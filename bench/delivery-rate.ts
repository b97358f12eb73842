import { type CpuTime, cpuBetween, cpuTime } from './cpu-time.ts'
import { eventPublisher } from './events.ts'
import { holdDeliveries, holdFanOut } from './hold.ts'
import type { Receiver } from './receiver.ts'
import { subscribe, type WebhookPlace } from './subscribe.ts'

/** Deliveries that are all there before the first is made. */
export interface Backlog {
  readonly what: string
  /** The URLs of each workspace's endpoints; each gets all events of its workspace. */
  readonly urls: readonly (readonly string[])[]
  readonly deliveries: number
  /** Whether they wait in the table, due; else their events wait in Kafka. */
  readonly isInTable?: boolean
}

export interface Rate {
  readonly perSecond: number
  /** CPU milliseconds per delivery. */
  readonly cpu: CpuTime
}

/** Deliveries before the backlog, in which the attempts in flight of endpoints adapt. */
const WARM_UP = 5000
/** The shares of the backlog between which the rate is measured. */
const [FROM, TO] = [0.2, 0.95]
const WITHIN_MS = 600_000

/** Deliveries per second, from Kafka or the table to the receiver. */
export async function deliveryRate(place: WebhookPlace, receiver: Receiver, backlog: Backlog): Promise<Rate> {
  const subscription = await subscribe(place, backlog.urls)
  const publisher = await eventPublisher(place.description())
  const hold = backlog.isInTable ? holdDeliveries : holdFanOut
  const { perSecond, from, to, deliveries } = await rateOf(receiver, backlog, {
    publish: (events) => publisher.publishMany(subscription.workspaceIds, events),
    hold: () => hold(place, subscription),
    cpu: () => cpuTime(place.directory, receiver.pid),
  })
  await publisher.stop()
  await subscription.end()
  return { perSecond, cpu: cpuBetween(from, to, deliveries) }
}

/** What makes the deliveries of a backlog. */
interface Sender<Cpu> {
  /** Publishes so many events, of the workspaces in turn. */
  publish(events: number): Promise<unknown>
  /** Makes what is published wait. Returns the function that ends this once so many deliveries wait. */
  hold(): Promise<(deliveries: number) => Promise<unknown>>
  cpu(): Cpu
}

/** Deliveries per second from the first to the second share of a backlog, and the CPU times at both. */
export async function rateOf<Cpu>(receiver: Receiver, backlog: Backlog, { publish, hold, cpu }: Sender<Cpu>) {
  const perEvent = backlog.urls.flat().length / backlog.urls.length
  await receiver.begin()
  await publish(Math.ceil(WARM_UP / perEvent))
  await receiver.until(WARM_UP, WITHIN_MS)

  await receiver.begin()
  const release = await hold()
  await publish(Math.ceil(backlog.deliveries / perEvent))
  await release(backlog.deliveries)
  const at = async (share: number) => {
    await receiver.until(backlog.deliveries * share, WITHIN_MS)
    return { time: performance.now(), cpu: cpu() }
  }
  const [from, to] = [await at(FROM), await at(TO)]
  await receiver.until(backlog.deliveries, WITHIN_MS)
  const deliveries = backlog.deliveries * (TO - FROM)
  return { perSecond: (deliveries * 1000) / (to.time - from.time), from: from.cpu, to: to.cpu, deliveries }
}
