import { anEvent, eventPublisher } from './events.ts'
import { percentile } from './load.ts'
import { sharedNow, startReceiver } from './receiver.ts'
import { subscribe, type WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

/** As many as a workspace may have (OP-121). */
const ENDPOINTS = 500
const ORIGINS = 50
const EVENTS = 5

/** The time from sending one event to Kafka until it has arrived at all of many endpoints. */
export async function measureWideEvent(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver(ORIGINS)
  const publisher = await eventPublisher(place.description())
  const urls = Array.from({ length: ENDPOINTS }, (_, index) => receiver.url(index))
  const subscription = await subscribe(place, [urls])
  const untilTheLast = async () => {
    await receiver.begin(true)
    const sentAt = sharedNow()
    await publisher.publish(anEvent(subscription.workspaceIds[0] ?? ''))
    await receiver.until(ENDPOINTS)
    return Math.max(...(await receiver.arrivals()).map(({ at }) => at)) - sentAt
  }
  await untilTheLast()
  const durations: number[] = []
  for (let event = 0; event < EVENTS; event++) durations.push(await untilTheLast())
  await subscription.end()
  await publisher.stop()
  receiver.stop()
  return [
    {
      name: `one event sent to Kafka → received by the last of ${ENDPOINTS} endpoints`,
      measured: `p50 ${percentile(durations, 0.5).toFixed(0)} ms, slowest ${Math.max(...durations).toFixed(0)} ms`,
      bound: '≤ 1000 ms',
    },
  ]
}
