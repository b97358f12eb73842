import { eventPublisher } from './events.ts'
import { percentile } from './load.ts'
import { pacedFlow, type Received } from './paced-flow.ts'
import { sharedNow, startReceiver } from './receiver.ts'
import { deliverySql, subscribe, type WebhookPlace } from './subscribe.ts'
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
  const beside = received.filter(({ sentAt }) => sentAt < end)
  const delays = beside.map(({ at, sentAt }) => at - sentAt)
  const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)].map((ms) => ms.toFixed(0))
  const written = percentile(await untilWritten(place, beside), 0.99).toFixed(0)
  return [
    {
      name: `event → received, beside ${EVENTS} events × ${ENDPOINTS} endpoints of another workspace`,
      measured: `p50 ${p50} ms, p99 ${p99} ms (until written p99 ${written} ms)`,
      bound: 'p99 ≤ 1000 ms',
    },
  ]
}

/** Milliseconds from sending an event to Kafka until its delivery was in the table. */
async function untilWritten(place: WebhookPlace, received: readonly Received[]): Promise<number[]> {
  const sql = deliverySql(place)
  const rows = await sql<{ id: string; at: number }[]>`
    select event_id as id, extract(epoch from created_at)::float8 * 1000 as at from delivery
    where event_id = any(${received.map(({ eventId }) => eventId)}::uuid[])`
  await sql.end()
  const writtenAt = new Map(rows.map(({ id, at }) => [id, at]))
  return received.map(({ eventId, sentAt }) => (writtenAt.get(eventId) ?? sentAt) - sentAt)
}
