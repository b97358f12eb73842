import { setTimeout as pause } from 'node:timers/promises'
import type { Replica } from '@backoffice/local/replica.ts'
import { delaysOf, type Flown, type PacedFlow, pacedFlow } from './paced-flow.ts'
import { peakMemory } from './peak-memory.ts'
import { type Receiver, sharedNow, startReceiver } from './receiver.ts'
import { withReplicas } from './replicas.ts'
import { seedEndpoints } from './seed-endpoints.ts'
import type { WebhookPlace } from './subscribe.ts'
import type { Row } from './table.ts'

const MANY_ENDPOINTS = 100_000
/** The time from the first measured event to the kill. */
export const KILLED_AFTER_MS = 2000
/** How long attempts that are made again still count; Outpost makes them after five seconds or more. */
export const REPEATS_WITHIN_MS = 15_000
/** How often the only replica is killed: what is in flight, and its start, differ from time to time. */
const KILLS = 3
const [ONE_A_SECOND, FEW_A_SECOND] = [1000, 500]
const ENDPOINTS = 50

/** kill -9 of the process that sends to an endpoint of 50 ms, which is alone or has another replica beside it. */
export async function measureKills(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver()
  const flow = flowToKill(receiver)
  const calm = await pacedFlow(place, receiver, flow)
  const alone: Awaited<ReturnType<typeof killed>>[] = []
  for (let kill = 0; kill < KILLS; kill++) alone.push(await killed(place, receiver, flow, []))
  const beside = await withReplicas(place, 2, (further) => killed(place, receiver, flow, further))
  receiver.stop()
  return [
    ...alone.map((flown) =>
      killRow('the only replica, which starts again at once', flown, calm, '0, ≤ 30, ≤ 1 s, ≤ 3 s'),
    ),
    killRow('one of two', beside, calm, '0, ≤ 30, ≤ 1 s, ≤ 3 s'),
  ]
}

/** The flow to an endpoint of 50 ms in which a process is killed. */
export function flowToKill(receiver: Receiver): PacedFlow {
  const urls = [[receiver.url(0, 'after-50')]]
  return { urls, perSecond: ONE_A_SECOND, warmUp: 2 * ONE_A_SECOND, events: 5 * ONE_A_SECOND }
}

/** The start, the memory and a kill of a replica while very many endpoints have retries later. */
export async function measureManyEndpoints(place: WebhookPlace): Promise<Row[]> {
  const receiver = await startReceiver(ENDPOINTS)
  const urls = Array.from({ length: ENDPOINTS }, (_, index) => [receiver.url(index)])
  const flow = { urls, perSecond: FEW_A_SECOND, warmUp: 2 * FEW_A_SECOND, events: 10 * FEW_A_SECOND }
  const calm = await pacedFlow(place, receiver, flow)
  const startMs = async () => {
    const startedAt = performance.now()
    return withReplicas(place, 2, async () => performance.now() - startedAt)
  }
  const fewMs = await startMs()
  const forget = await seedEndpoints(place, MANY_ENDPOINTS)
  const manyMs = await startMs()
  const rows = await withReplicas(place, 2, async (further) => {
    const flown = await killed(place, receiver, flow, further)
    const bytes = Math.max(...[...further.map(({ process }) => process.pid ?? 0), ownPid(place)].map(peakMemory))
    return [
      {
        name: `start beside ${MANY_ENDPOINTS} endpoints`,
        measured: `${(manyMs / 1000).toFixed(1)} s`,
        floor: `${(fewMs / 1000).toFixed(1)} s without`,
        ratio: manyMs / fewMs,
        bound: '≤ 5 s',
      },
      killRow(`one of two beside ${MANY_ENDPOINTS} endpoints with retries later`, flown, calm, 'last straggler ≤ 5 s'),
      {
        name: `peak memory with ${MANY_ENDPOINTS} endpoints`,
        measured: `${Math.round(bytes / 1e6)} MB`,
        bound: '≤ 250 MB',
      },
    ]
  })
  await forget()
  receiver.stop()
  return rows
}

/** An attempt that ended so long before the kill must not be made again, in milliseconds. */
const RECORDED_WITHIN_MS = 20

/** A flow in which the replica that sends most is killed. Returns once the stack's own replica is back. */
export async function killed(place: WebhookPlace, receiver: Receiver, flow: PacedFlow, further: readonly Replica[]) {
  const before = ownPid(place)
  let killedAt = 0
  const during = async () => {
    const own = place.description().services['webhook-delivery']
    const replicas = [{ operations: own?.operations ?? '', pid: before }].concat(
      further.map(({ operations, process }) => ({ operations, pid: process.pid ?? 0 })),
    )
    const attempts = await Promise.all(replicas.map(({ operations }) => attemptsOf(operations)))
    // Not right after the metrics: a process that writes them reads no answers meanwhile.
    await pause(KILLED_AFTER_MS)
    killedAt = sharedNow()
    process.kill(replicas[attempts.indexOf(Math.max(...attempts))]?.pid ?? 0, 'SIGKILL')
  }
  const flown = await pacedFlow(place, receiver, { ...flow, repeatsWithinMs: REPEATS_WITHIN_MS, during })
  for (const { process } of further) await process.start()
  return { ...flown, ...madeAgain(flown, killedAt) }
}

/** The attempts that were made again: those in flight at the kill, and those that had ended early enough before. */
function madeAgain({ arrivals }: Flown, killedAt: number) {
  const arrivalsOf = Map.groupBy(arrivals, ({ path, eventId }) => `${path} ${eventId}`)
  const ends = [...arrivalsOf.values()].flatMap(([first, again]) => (first && again ? [first.endedAt] : []))
  return {
    inFlight: ends.filter((at) => at > killedAt).length,
    endedBefore: ends.filter((at) => at < killedAt - RECORDED_WITHIN_MS).length,
  }
}

const ownPid = (place: WebhookPlace) => place.description().services['webhook-delivery']?.pid ?? 0

/** The attempts that a replica has made since its start. */
async function attemptsOf(operations: string): Promise<number> {
  const text = await (await fetch(`${operations}/metrics`)).text()
  const counts = text.matchAll(/^webhook_attempts_total\{[^}]*\} (\d+)/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

function killRow(who: string, flown: Awaited<ReturnType<typeof killed>>, calm: Flown, bound: string): Row {
  const { received, lost, repeated, inFlight, endedBefore } = flown
  const twice = `${repeated} of ${received.length} twice (${inFlight} in flight, ${endedBefore} ended 20 ms before)`
  return {
    name: `kill -9 of ${who}`,
    measured: `${lost} lost, ${twice}, ${pauses(flown)}`,
    floor: `${pauses(calm)} without`,
    bound,
  }
}

/** The longest time without a first arrival, and the longest from an event to its first arrival. */
export function pauses({ received }: Flown): string {
  const gaps = received.slice(1).map(({ at }, index) => at - (received[index]?.at ?? 0))
  const [gap, straggler] = [gaps, delaysOf(received)].map((times) => (Math.max(...times) / 1000).toFixed(1))
  return `longest gap ${gap} s, last straggler ${straggler} s`
}
