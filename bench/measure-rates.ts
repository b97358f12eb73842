import { MAX_CONCURRENCY } from '../services/webhook-delivery/src/scheduling/concurrency.ts'
import { type CpuTime, storesIncluded } from './cpu-time.ts'
import { type Backlog, deliveryRate } from './delivery-rate.ts'
import { signedPosts } from './post-floor.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { withReplicas } from './replicas.ts'
import type { WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

/** The endpoints of a backlog to many. */
export const ENDPOINTS = 50
const FLOOR_POSTS = 200_000
const ROUNDS = 3

/** Deliveries per second with one replica and with two, beside signed POSTs to the same receiver without storage. */
export async function measureRates(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver(ENDPOINTS)
  const quick = await signedPosts(receiver.url(0), FLOOR_POSTS)
  const rows: Row[] = []
  for (const { bound, cpuBound = '≤ 0.4 ms', slowUrl, ...backlog } of backlogsOf(receiver)) {
    const floor = slowUrl ? await signedPosts(slowUrl, backlog.deliveries, MAX_CONCURRENCY) : quick
    const one = await deliveryRate(place, receiver, backlog)
    const two = await withReplicas(place, 2, () => deliveryRate(place, receiver, backlog))
    rows.push(
      {
        name: `deliveries, ${backlog.what}`,
        measured: perSecond(one.perSecond),
        floor: `${perSecond(floor)} signed POSTs`,
        ratio: one.perSecond / floor,
        bound,
      },
      cpuRow(backlog.what, one.cpu, cpuBound),
      {
        name: `deliveries by two replicas, ${backlog.what}`,
        measured: perSecond(two.perSecond),
        floor: `${perSecond(one.perSecond)} by one`,
        ratio: two.perSecond / one.perSecond,
        bound: 'ratio ≥ 0.95',
      },
    )
  }
  receiver.stop()
  return rows
}

/** The backlogs whose rates are measured, with the bounds of this project. */
export function backlogsOf(receiver: Receiver): readonly BoundBacklog[] {
  const urls = Array.from({ length: ENDPOINTS }, (_, index) => receiver.url(index))
  const apart = urls.map((url) => [url])
  const slowUrl = receiver.url(0, 'after-50')
  return [
    { what: `an event to 1 of ${ENDPOINTS} endpoints`, urls: apart, deliveries: 40_000, bound: '≥ 4900/s' },
    {
      what: `an event to all of ${ENDPOINTS} endpoints`,
      urls: [urls],
      deliveries: 60_000,
      bound: '≥ 13000/s',
      cpuBound: '≤ 0.12 ms',
    },
    {
      what: 'to one endpoint',
      urls: [[receiver.url(0)]],
      deliveries: 20_000,
      bound: '≥ 4950/s',
      cpuBound: '≤ 0.25 ms',
    },
    { what: 'to one that takes 50 ms', urls: [[slowUrl]], slowUrl, deliveries: 20_000, bound: '≥ 3300/s' },
    {
      what: `of suspended workspaces, resumed, to ${ENDPOINTS} endpoints`,
      urls: apart,
      deliveries: 40_000,
      isInTable: true,
      bound: '≥ 6800/s',
    },
  ]
}

interface BoundBacklog extends Backlog {
  readonly bound: string
  readonly cpuBound?: string
  /** Of an endpoint whose floor is as many POSTs at a time as one endpoint gets. */
  readonly slowUrl?: string
}

/** Whether many deliveries to one endpoint slow down later ones to others. */
export async function measureInTurn(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver(ENDPOINTS)
  const apart = Array.from({ length: ENDPOINTS }, (_, index) => [receiver.url(index)])
  const many = { what: 'to many', urls: apart, deliveries: 20_000 }
  const first = await deliveryRate(place, receiver, many)
  const rates: (typeof first)[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await deliveryRate(place, receiver, { what: 'to one', urls: [[receiver.url(0)]], deliveries: 20_000 })
    rates.push(await deliveryRate(place, receiver, many))
  }
  receiver.stop()
  const postgres = rates.map(({ cpu }) => cpu.postgres.toFixed(2)).join(', ')
  const slowest = Math.min(...rates.map((rate) => rate.perSecond))
  return [
    {
      name: `deliveries to ${ENDPOINTS} endpoints after ${many.deliveries} to one, ${ROUNDS} times`,
      measured: `${rates.map((rate) => perSecond(rate.perSecond)).join(', ')}; PostgreSQL ${postgres} ms each`,
      floor: `${perSecond(first.perSecond)} before`,
      ratio: slowest / first.perSecond,
      bound: 'ratio ≥ 0.9',
    },
  ]
}

const perSecond = (rate: number) => `${rate.toFixed(0)}/s`

const cpuRow = (what: string, cpu: CpuTime, bound: string): Row => ({
  name: `CPU per delivery, stores included, ${what}`,
  measured: `${storesIncluded(cpu)} (receiver ${cpu.receiver.toFixed(2)})`,
  bound,
})
