import { eventPublisher } from './events.ts'
import { holdFanOut } from './hold-fan-out.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { subscribe, type WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

/** Deliveries of the warm-up, in which the number of attempts in flight adapts, and of the measurement. */
const [WARM_UP, MEASURED] = [5000, 20_000]

/** Deliveries per second to the only endpoint of a workspace, when all events wait in Kafka already. */
export async function measureOneEndpoint(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver()
  const rows: Row[] = []
  for (const [what, path, bound] of [
    ['answers in 50 ms', 'after-50', '≥ 1500/s'],
    ['answers at once', 'hook', '≥ 3000/s'],
  ] as const) {
    const perSecond = await deliveredPerSecond(place, receiver, receiver.url(0, path))
    rows.push({ name: `deliveries to one endpoint that ${what}`, measured: `${perSecond.toFixed(0)}/s`, bound })
  }
  receiver.stop()
  return rows
}

async function deliveredPerSecond(place: WebhookPlace, receiver: Receiver, url: string): Promise<number> {
  const subscription = await subscribe(place, [[url]])
  const publisher = await eventPublisher(place.description())
  await receiver.begin()
  const release = await holdFanOut(place)
  await publisher.publishMany(subscription.workspaceIds, WARM_UP + MEASURED)
  await release()
  await receiver.until(WARM_UP, 120_000)
  const startedAt = performance.now()
  await receiver.until(WARM_UP + MEASURED, 120_000)
  const perSecond = (MEASURED * 1000) / (performance.now() - startedAt)
  await publisher.stop()
  await subscription.end()
  return perSecond
}
