import { setTimeout as pause } from 'node:timers/promises'
import { type CpuTime, cpuBetween, cpuTime, storesIncluded } from './cpu-time.ts'
import { percentile } from './load.ts'
import { delaysOf, type PacedFlow, pacedFlow } from './paced-flow.ts'
import { pacedPosts } from './post-floor.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import type { WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

const WORKSPACES = 10
const A_SECOND = 100
const [WARM_UP, COUNT] = [300, 3000]
const COUNT_MS = (COUNT / A_SECOND) * 1000

/**
 * The time from sending an event to Kafka until its first attempt arrives, and the CPU time of a delivery. Each event
 * has one endpoint.
 */
export async function measureEventToReceiver(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver(WORKSPACES)
  const cpuOf = async (): Promise<CpuTime> => {
    const before = cpuTime(place.directory, receiver.pid)
    await pause(COUNT_MS)
    return cpuBetween(before, cpuTime(place.directory, receiver.pid), COUNT)
  }
  const alone = await pacedPosts(receiver.url(0), COUNT / 3, A_SECOND)
  const idle = await cpuOf()
  let busy = idle
  const { received } = await pacedFlow(place, receiver, {
    ...slowFlow(receiver),
    async during() {
      busy = await cpuOf()
    },
  })
  receiver.stop()
  return [
    {
      name: `event sent to Kafka → webhook received, ${A_SECOND} events/s`,
      measured: figuresOf(delaysOf(received)),
      floor: `${figuresOf(alone)} a signed POST`,
      bound: 'p50 ≤ 4 ms, p99 ≤ 25 ms',
    },
    {
      name: `CPU per delivery, stores included, ${A_SECOND} events/s`,
      measured: storesIncluded(busy),
      floor: `${storesIncluded(idle)} idle`,
      bound: '≤ 2 ms',
    },
  ]
}

/** Events of some workspaces with an endpoint each, at a rate at which most of the machine is idle. */
export function slowFlow(receiver: Receiver): PacedFlow {
  const urls = Array.from({ length: WORKSPACES }, (_, index) => [receiver.url(index)])
  return { urls, perSecond: A_SECOND, warmUp: WARM_UP, events: COUNT }
}

const figuresOf = (times: readonly number[]) =>
  `p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms`
