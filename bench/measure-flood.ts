import { eventPublisher } from './events.ts'
import { percentile } from './load.ts'
import { pacedFlow } from './paced-flow.ts'
import { sharedNow, startReceiver } from './receiver.ts'
import { subscribe, type WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

const [EVENTS, ENDPOINTS] = [2400, 50]
const [A_SECOND, SECONDS] = [20, 30]
const FLOODED_WITHIN_MS = 600_000

/** The events of a workspace with one endpoint, while another workspace has many events for many endpoints. */
export async function measureFlood(place: WebhookPlace): Promise<Row[]> {
  const [receiver, flooded] = [await startReceiver(), await startReceiver(ENDPOINTS)]
  const subscription = await subscribe(place, [Array.from({ length: ENDPOINTS }, (_, index) => flooded.url(index))])
  const publisher = await eventPublisher(place.description())
  await flooded.begin()
  let end = 0
  const flood = async () => {
    await publisher.publishMany(subscription.workspaceIds, EVENTS)
    await flooded.until(EVENTS * ENDPOINTS, FLOODED_WITHIN_MS)
    end = sharedNow()
  }
  const urls = [[receiver.url(0)]]
  const flow = { urls, perSecond: A_SECOND, warmUp: A_SECOND, events: A_SECOND * SECONDS, during: flood }
  const { received } = await pacedFlow(place, receiver, flow)
  await publisher.stop()
  await subscription.end()
  receiver.stop()
  flooded.stop()
  const delays = received.filter(({ sentAt }) => sentAt < end).map(({ at, sentAt }) => at - sentAt)
  const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)].map((ms) => ms.toFixed(0))
  return [
    {
      name: `event → received, beside ${EVENTS} events × ${ENDPOINTS} endpoints of another workspace`,
      measured: `p50 ${p50} ms, p99 ${p99} ms`,
      bound: 'p99 ≤ 1000 ms',
    },
  ]
}
