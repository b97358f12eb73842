import { setTimeout as pause } from 'node:timers/promises'
import type { ManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { orderOf } from './order-of.ts'
import { type Flown, type PacedFlow, pacedFlow } from './paced-flow.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { withReplicas } from './replicas.ts'
import type { WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

/** A flow to endpoints of one workspace, and what happens to one of several replicas meanwhile. */
interface Load extends Pick<PacedFlow, 'perSecond' | 'events' | 'products' | 'isBurst'> {
  readonly what: string
  /** How the endpoints answer. */
  readonly path: string
  readonly endpoints: number
  happens?(replica: ManagedProcess): Promise<void>
  measured?(flown: Flown): string
  readonly bound?: string
}

const BURST = { isBurst: true, perSecond: 10_000 }
const STEADY = { path: 'after-30', endpoints: 4, products: 40, perSecond: 100 }
const [FROZEN_MS, AWAY_MS, HAPPENS_AFTER_MS] = [30_000, 20_000, 4000]

const LOADS: readonly Load[] = [
  {
    what: 'to one of 1.1 s, 3 products × 25',
    path: 'after-1100',
    endpoints: 1,
    products: 3,
    ...BURST,
    events: 75,
  },
  {
    what: 'to one of 30 ms, 40 products × 100',
    path: 'after-30',
    endpoints: 1,
    products: 40,
    ...BURST,
    events: 4000,
  },
  {
    what: 'to unknown ones of 500 ms, 100 products',
    path: 'after-500',
    endpoints: 8,
    ...BURST,
    events: 100,
    measured: (flown) => `${orderOf(flown).unknown} in flight at most to one, ${flown.lost} lost`,
    bound: '2, 0',
  },
  { ...STEADY, what: 'at 100/s, one stopped', events: 1200, happens: (replica) => replica.stop() },
  { ...STEADY, what: 'at 100/s, one killed', events: 1200, happens: (replica) => replica.kill() },
  {
    ...STEADY,
    what: 'at 100/s, one frozen for 30 s',
    events: 4500,
    async happens(replica) {
      replica.signal('SIGSTOP')
      await pause(FROZEN_MS)
      replica.signal('SIGCONT')
    },
  },
  {
    ...STEADY,
    what: 'at 100/s, one leaving and joining every 20 s',
    events: 6000,
    async happens(replica) {
      for (let round = 0; round < 2; round++) {
        await replica.stop()
        await replica.start()
        await pause(AWAY_MS)
      }
    },
  },
]

/** Whether the events of a product arrive in order and one at a time, with one replica, two and three. */
export async function measureOrder(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver(1)
  const rows: Row[] = []
  for (const replicas of [1, 2, 3]) {
    await withReplicas(place, replicas, async ([other]) => {
      for (const load of LOADS) {
        if (load.happens && !other) continue
        rows.push(await rowOf(place, receiver, load, replicas, other?.process))
        await other?.process.start()
      }
    })
  }
  receiver.stop()
  return rows
}

async function rowOf(place: WebhookPlace, receiver: Receiver, load: Load, replicas: number, other?: ManagedProcess) {
  const { what, path, endpoints, happens, measured = orderText, bound = '0, 0, 0' } = load
  const flown = await pacedFlow(place, receiver, {
    ...load,
    urls: [Array.from({ length: endpoints }, (_, index) => receiver.url(index, path))],
    warmUp: 0,
    async during() {
      if (!happens || !other) return
      await pause(HAPPENS_AFTER_MS)
      await happens(other)
    },
  })
  return { name: `order by ${replicas}, ${what}`, measured: measured(flown), bound }
}

function orderText(flown: Flown): string {
  const { overtaken, farthest, together } = orderOf(flown)
  const places = overtaken === 0 ? '' : ` by up to ${farthest}`
  const late = flown.late === 0 ? '' : `, ${flown.late} late`
  const again = flown.repeated === 0 ? '' : `, ${flown.repeated} again`
  return `${overtaken} of ${flown.received.length} overtaken${places}, ${together} together, ${flown.lost} lost${late}${again}`
}
