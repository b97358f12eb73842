import { anEvent, eventPublisher } from './events.ts'
import { openLoop, percentile } from './load.ts'
import { sharedNow, startReceiver } from './receiver.ts'
import { subscribe, type WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

const WORKSPACES = 10
const A_SECOND = 100
const [WARM_UP, COUNT] = [300, 3000]

/** The time from sending an event to Kafka until its first attempt arrives. Each event has one endpoint. */
export async function measureEventToReceiver(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver(WORKSPACES)
  const publisher = await eventPublisher(place.description())
  const urls = Array.from({ length: WORKSPACES }, (_, index) => [receiver.url(index)])
  const subscription = await subscribe(place, urls)
  const sentAt = new Map<string, number>()
  const publish = (index: number) => {
    const event = anEvent(subscription.workspaceIds[index % WORKSPACES] ?? '')
    sentAt.set(event.id, sharedNow())
    return publisher.publish(event)
  }
  await receiver.begin(true)
  await openLoop(WARM_UP, A_SECOND, publish)
  await receiver.until(WARM_UP)
  await receiver.begin(true)
  await openLoop(COUNT, A_SECOND, publish)
  await receiver.until(COUNT)
  const delays = (await receiver.arrivals()).map(({ eventId, at }) => at - (sentAt.get(eventId) ?? Number.NaN))
  await subscription.end()
  await publisher.stop()
  receiver.stop()
  return [
    {
      name: `event sent to Kafka → webhook received, ${A_SECOND} events/s`,
      measured: `p50 ${percentile(delays, 0.5).toFixed(1)} ms, p99 ${percentile(delays, 0.99).toFixed(1)} ms`,
      bound: 'p50 ≤ 10 ms, p99 ≤ 50 ms',
    },
  ]
}
