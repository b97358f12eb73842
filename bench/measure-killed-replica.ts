import { setTimeout as pause } from 'node:timers/promises'
import { eventPublisher } from './events.ts'
import { holdFanOut } from './hold-fan-out.ts'
import { sharedNow, startReceiver } from './receiver.ts'
import { subscribe, type WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

const ENDPOINTS = 50
const [EVENTS, KILLED_AFTER] = [20_000, 5000]
const BACK_WITHIN_MS = 30_000

/** A burst with a kill of the only replica in the middle. The stack starts the replica again after a second. */
export async function measureKilledReplica(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver(ENDPOINTS)
  const publisher = await eventPublisher(place.description())
  const urls = Array.from({ length: ENDPOINTS }, (_, index) => [receiver.url(index)])
  const subscription = await subscribe(place, urls)
  const release = await holdFanOut(place)
  await publisher.publishMany(subscription.workspaceIds, EVENTS)
  await publisher.stop()
  await receiver.begin(true)
  await release()
  await receiver.until(KILLED_AFTER)
  const killed = pidOf(place)
  process.kill(killed, 'SIGKILL')
  const readyAt = await readyAgain(place, killed)
  await receiver.until(EVENTS)
  const arrivals = await receiver.arrivals()
  await subscription.end()
  receiver.stop()
  const seen = new Set(arrivals.map(({ path, eventId }) => path + eventId))
  const lastAt = Math.max(...arrivals.map(({ at }) => at))
  return [
    {
      name: `replica killed with ${EVENTS - KILLED_AFTER} of ${EVENTS} deliveries left: ready again → last received`,
      measured: `${((lastAt - readyAt) / 1000).toFixed(1)} s`,
      bound: '≤ 10 s',
    },
    { name: 'deliveries it made twice', measured: String(arrivals.length - seen.size), bound: '≤ 1024, in flight' },
  ]
}

const pidOf = (place: WebhookPlace) => place.description().services['webhook-delivery']?.pid ?? 0

/** The stack writes the new process id once the process is ready. */
async function readyAgain(place: WebhookPlace, killed: number): Promise<number> {
  const deadline = performance.now() + BACK_WITHIN_MS
  while (pidOf(place) === killed) {
    if (performance.now() > deadline) throw new Error('webhook-delivery was not started again')
    await pause(20)
  }
  return sharedNow()
}
