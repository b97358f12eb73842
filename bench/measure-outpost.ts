import { setTimeout as pause } from 'node:timers/promises'
import { cpuTime, totalOf } from './cpu-time.ts'
import { type Backlog, deliveryRate, rateOf } from './delivery-rate.ts'
import { slowFlow } from './measure-event-to-receiver.ts'
import { flowToKill, KILLED_AFTER_MS, killed, pauses, REPEATS_WITHIN_MS } from './measure-kills.ts'
import { backlogsOf, ENDPOINTS } from './measure-rates.ts'
import { type Outpost, startOutpost } from './outpost.ts'
import { type Flown, flowOf, type PacedFlow, pacedFlow } from './paced-flow.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import type { WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

/** How many times as quick as Outpost this project has to be, in the order of the backlogs. */
const TIMES = [3, 6, 3, 2, 3]

/**
 * The deliveries of this project and of Outpost, another sender of webhooks, with the same events to the same receiver.
 * `OUTPOST=<checkout>/bin npm run bench -- 'webhooks beside Outpost'` has its programs, which
 * `go build -tags nomsgpack -o bin/ ./cmd/outpost ./cmd/outpost-server` builds in a checkout of
 * github.com/hookdeck/outpost. They need `redis-server` and RabbitMQ, and their API listens on all addresses.
 */
export async function measureOutpost(place: WebhookPlace): Promise<Row[]> {
  const programs = process.env.OUTPOST
  if (!programs) return [{ name: 'webhooks beside Outpost', measured: 'skipped: OUTPOST is not set', bound: '' }]
  const receiver = await startReceiver(ENDPOINTS)
  const outpost = await startOutpost(programs)
  try {
    const rows: Row[] = []
    for (const [index, backlog] of backlogsOf(receiver).entries()) {
      const ours = (await deliveryRate(place, receiver, backlog)).perSecond
      const theirs = await outpostRate(outpost, receiver, backlog)
      rows.push({
        name: `deliveries beside Outpost, ${backlog.what}`,
        measured: `${ours.toFixed(0)}/s`,
        floor: `${theirs.toFixed(0)}/s Outpost`,
        ratio: ours / theirs,
        bound: `ratio ≥ ${TIMES[index]}`,
      })
    }
    return [...rows, await cpuRow(place, outpost, receiver), await killRow(place, outpost, receiver)]
  } finally {
    await outpost.stop()
    receiver.stop()
  }
}

/** Outpost's deliveries per second. A backlog in the table is one of deliveries for Outpost too, in its queue. */
async function outpostRate(outpost: Outpost, receiver: Receiver, backlog: Backlog): Promise<number> {
  const subscription = await outpost.subscribe(backlog.urls)
  const { perSecond } = await rateOf(receiver, backlog, {
    publish: (events) => subscription.publishMany(events, backlog.isInTable),
    hold: subscription.hold,
    cpu: outpost.cpu,
  })
  await outpost.rest()
  await subscription.end()
  return perSecond
}

async function outpostFlow(outpost: Outpost, receiver: Receiver, flow: PacedFlow): Promise<Flown> {
  const subscription = await outpost.subscribe(flow.urls)
  const flown = await flowOf(receiver, flow, { ...subscription, waiting: async () => 0 })
  await outpost.rest()
  await subscription.end()
  return flown
}

async function cpuRow(place: WebhookPlace, outpost: Outpost, receiver: Receiver): Promise<Row> {
  const flow = slowFlow(receiver)
  /** CPU milliseconds per delivery. */
  const spent = async (seconds: () => number, send: (flow: PacedFlow) => Promise<Flown>) => {
    let [before, after] = [0, 0]
    const during = async () => {
      before = seconds()
      await pause((flow.events / flow.perSecond) * 1000)
      after = seconds()
    }
    await send({ ...flow, during })
    return ((after - before) * 1000) / flow.events
  }
  const ours = await spent(
    () => totalOf(cpuTime(place.directory, receiver.pid)),
    (paced) => pacedFlow(place, receiver, paced),
  )
  const theirs = await spent(outpost.cpu, (paced) => outpostFlow(outpost, receiver, paced))
  return {
    name: `CPU per delivery beside Outpost, stores included, ${flow.perSecond} events/s`,
    measured: `${ours.toFixed(2)} ms`,
    floor: `${theirs.toFixed(2)} ms Outpost`,
    ratio: ours / theirs,
    bound: 'ratio ≤ 1',
  }
}

async function killRow(place: WebhookPlace, outpost: Outpost, receiver: Receiver): Promise<Row> {
  const flow = flowToKill(receiver)
  const ours = await killed(place, receiver, flow, [])
  const during = async () => {
    await pause(KILLED_AFTER_MS)
    await outpost.server.kill()
    await outpost.server.start()
  }
  const theirs = await outpostFlow(outpost, receiver, { ...flow, repeatsWithinMs: REPEATS_WITHIN_MS, during })
  return {
    name: 'kill -9 of the only sender beside Outpost',
    measured: figuresOf(ours),
    floor: `${figuresOf(theirs)} Outpost`,
    bound: '0 missing, none above its',
  }
}

const figuresOf = (flown: Flown) =>
  `${flown.lost + flown.late} missing, ${flown.repeated} of ${flown.received.length} twice, ${pauses(flown)}`
