import { heldAtMost, readAtMost } from './concurrency.ts'
import type { EndpointQueue } from './endpoint-queue.ts'
import type { EndpointQueues } from './endpoint-queues.ts'
import type { Job } from './job.ts'
import { CAPACITY, CAPACITY_BYTES, ENDPOINT_SHARE, SLOW_CAPACITY, WORKSPACE_SHARE } from './limits.ts'

/** Readings leave half of the memory to the first attempts of fresh events. */
const READ_SHARE = 1 / 2

/** How many of some first attempts of one endpoint have room in memory. `now` is of `performance.now()`, as below. */
export function roomForFresh(queues: EndpointQueues, jobs: readonly Job[], now: number): number {
  const [first] = jobs
  if (first === undefined || jobs.reduce((sum, { body }) => sum + body.length, queues.all.bytes) > CAPACITY_BYTES)
    return 0
  const { id, workspaceId } = first.target
  const queue = queues.get(id)
  const ofEndpoint = heldAtMost(queues.concurrencyOf(id)) - (queue?.firstAttempts ?? 0)
  const ofRate = soonAtMost(queues, id, now) - (queue?.waiting ?? 0)
  return Math.max(0, Math.min(jobs.length, ofEndpoint, ofRate, roomFor(queues, id, workspaceId)))
}

/** How many deliveries to read for an endpoint: none while it has more than half of the jobs that it may have. */
export function roomToRead(queues: EndpointQueues, endpointId: string, now: number): number {
  const { held, waiting } = queues.get(endpointId) ?? { held: 0, waiting: 0 }
  const [atMost, soon] = [readAtMost(queues.concurrencyOf(endpointId)), soonAtMost(queues, endpointId, now)]
  if (held > atMost / 2 || waiting > soon / 2) return 0
  const room = roomFor(queues, endpointId, queues.knownOf(endpointId)?.workspaceId ?? '', READ_SHARE)
  return Math.min(atMost - held, soon - waiting, room)
}

/** How many jobs of an endpoint may go on waiting in memory. The others wait in the table, where they cost nothing. */
export const waitingAtMost = ({ concurrency, rate }: EndpointQueue, now: number): number =>
  Math.min(heldAtMost(concurrency), rate.soonAtMost(now))

/** How many requests to an endpoint may begin soon, at most. */
const soonAtMost = (queues: EndpointQueues, endpointId: string, now: number): number =>
  queues.knownOf(endpointId)?.rate?.soonAtMost(now) ?? Number.POSITIVE_INFINITY

/** How many bytes of bodies may be read now. */
export const bytesToRead = (queues: EndpointQueues): number =>
  Math.max(0, READ_SHARE * CAPACITY_BYTES - queues.all.bytes)

/**
 * For how many more jobs there is room. An endpoint and a workspace get a share of what is left, and slow endpoints a
 * share of all, so that others always find room. The workspace may be '' for an endpoint that nothing was held for yet.
 */
function roomFor(queues: EndpointQueues, endpointId: string, workspaceId: string, share = 1): number {
  const [queue, load] = [queues.get(endpointId), queues.loadOf(workspaceId)]
  const jobs = share * CAPACITY - queues.all.held
  const bytes = share * CAPACITY_BYTES - queues.all.bytes
  if ((queue?.bytes ?? 0) >= bytes * ENDPOINT_SHARE || (load?.bytes ?? 0) >= bytes * WORKSPACE_SHARE) return 0
  const ofEndpoint = Math.floor(jobs * ENDPOINT_SHARE) - (queue?.held ?? 0)
  const ofWorkspace = jobs * WORKSPACE_SHARE - (load?.held ?? 0)
  const isSlow = queues.concurrencyOf(endpointId).responsiveness === 'slow'
  const ofSlow = isSlow ? SLOW_CAPACITY - queues.all.heldSlow : Number.POSITIVE_INFINITY
  return Math.max(0, Math.floor(Math.min(ofEndpoint, ofWorkspace, ofSlow)))
}
