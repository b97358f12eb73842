import { percentile } from './load.ts'
import { delaysOf, pacedFlow } from './paced-flow.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import type { WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

const [WORKSPACES, ENDPOINTS_EACH, ORIGINS] = [20, 10, 50]
const ENDPOINTS = WORKSPACES * ENDPOINTS_EACH
const EVENTS_A_SECOND = 50
/** Numbers of events. */
const [WARM_UP, MEASURED] = [6 * EVENTS_A_SECOND, 60 * EVENTS_A_SECOND]

/** The time from sending an event to Kafka until it arrives at endpoints that answer, while other endpoints hang. */
export async function measureHangingEndpoints(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver(ORIGINS)
  const rows: Row[] = []
  let healthyP99: number | undefined
  for (const [share, bound] of [
    [0, ''],
    [0.05, 'p99 ≤ 1.2 × that of 0 %'],
    [0.5, 'p99 ≤ 2 × that of 0 %'],
  ] as const) {
    const urls = urlsOf(receiver, share)
    const flow = { urls, perSecond: EVENTS_A_SECOND, warmUp: WARM_UP, events: MEASURED, answering: 1 - share }
    const delays = delaysOf((await pacedFlow(place, receiver, flow)).received)
    const p99 = percentile(delays, 0.99)
    rows.push({
      name: `event → received, ${ENDPOINTS_EACH * EVENTS_A_SECOND} deliveries/s, ${share * 100} % of ${ENDPOINTS} endpoints hang`,
      measured: `p50 ${percentile(delays, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      ...(healthyP99 !== undefined && { floor: `p99 ${healthyP99.toFixed(1)} ms`, ratio: p99 / healthyP99 }),
      bound,
    })
    healthyP99 ??= p99
  }
  receiver.stop()
  return rows
}

/** Hanging endpoints are spread evenly. */
function urlsOf(receiver: Receiver, share: number): string[][] {
  const hangs = (index: number) => Math.floor((index + 1) * share) > Math.floor(index * share)
  const urls = Array.from({ length: ENDPOINTS }, (_, index) => receiver.url(index, hangs(index) ? 'hang' : 'hook'))
  return Array.from({ length: WORKSPACES }, (_, workspace) =>
    urls.slice(workspace * ENDPOINTS_EACH, (workspace + 1) * ENDPOINTS_EACH),
  )
}
