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
  const perEvent = subscription.endpointIds.length / subscription.workspaceIds.length
  const publish = (deliveries: number) =>
    publisher.publishMany(subscription.workspaceIds, Math.ceil(deliveries / perEvent))
  await receiver.begin()
  await publish(WARM_UP)
  await receiver.until(WARM_UP, WITHIN_MS)

  await receiver.begin()
  const hold = backlog.isInTable ? holdDeliveries : holdFanOut
  const release = await hold(place, subscription)
  await publish(backlog.deliveries)
  await release(backlog.deliveries)
  const at = async (share: number) => {
    await receiver.until(backlog.deliveries * share, WITHIN_MS)
    return { time: performance.now(), cpu: cpuTime(place.directory, receiver.pid) }
  }
  const [from, to] = [await at(FROM), await at(TO)]
  await receiver.until(backlog.deliveries, WITHIN_MS)
  await publisher.stop()
  await subscription.end()
  const deliveries = backlog.deliveries * (TO - FROM)
  const perSecond = (deliveries * 1000) / (to.time - from.time)
  return { perSecond, cpu: cpuBetween(from.cpu, to.cpu, deliveries) }
}
