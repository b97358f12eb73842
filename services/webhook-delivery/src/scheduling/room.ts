import type { Target } from '../endpoints/targets.ts'
import { heldAtMost, isUnproven, readAtMost } from './concurrency.ts'
import type { EndpointQueue } from './endpoint-queue.ts'
import type { EndpointQueues } from './endpoint-queues.ts'
import type { Job } from './job.ts'
import { CAPACITY, CAPACITY_BYTES, ENDPOINT_SHARE, SLOW_CAPACITY, UNPROVEN_BYTES, WORKSPACE_SHARE } from './limits.ts'

/** Readings leave half of the memory to the first attempts of fresh events. */
const READ_SHARE = 1 / 2
/** But they always have this part of what is left. */
const READ_LEAST = 1 / 4

/** The memory that is left. */
interface Free {
  readonly jobs: number
  readonly bytes: number
}

/** How many of some first attempts of one endpoint have room in memory. `now` is of `performance.now()`, as below. */
export function roomForFresh(queues: EndpointQueues, jobs: readonly Job[], now: number): number {
  const [first] = jobs
  if (first === undefined) return 0
  const { id, workspaceId } = first.target
  const free = { jobs: CAPACITY - queues.all.held, bytes: CAPACITY_BYTES - queues.all.bytes }
  const queue = queues.get(id)
  const ofEndpoint = heldAtMost(queues.concurrencyOf(id)) - (queue?.firstAttempts ?? 0)
  const ofRate = soonAtMost(queues, id, now) - (queue?.waiting ?? 0)
  const room = Math.min(ofEndpoint, ofRate, roomFor(queues, id, workspaceId, free))
  const bytes = bytesFor(queues, id, workspaceId, free.bytes)
  let [count, sum] = [0, 0]
  for (const { body } of jobs) {
    if (count >= room || sum >= bytes || sum + body.length > free.bytes) break
    count++
    sum += body.length
  }
  return count
}

/** How many deliveries to read for an endpoint: none while it has more than half of the jobs that it may have. */
export function roomToRead(queues: EndpointQueues, endpointId: string, now: number): number {
  const { held, waiting } = queues.get(endpointId) ?? { held: 0, waiting: 0 }
  const [atMost, soon] = [readAtMost(queues.concurrencyOf(endpointId)), soonAtMost(queues, endpointId, now)]
  if (held > atMost / 2 || waiting > soon / 2) return 0
  const free = { jobs: toRead(CAPACITY, queues.all.held), bytes: bytesToRead(queues) }
  const room = roomFor(queues, endpointId, queues.knownOf(endpointId)?.workspaceId ?? '', free)
  return Math.min(atMost - held, soon - waiting, room)
}

/** Whether a delivery that was read may be held. The reading did not know its workspace, perhaps. */
export const mayHold = (queues: EndpointQueues, { id, workspaceId }: Target): boolean =>
  unprovenBytesFor(queues, id, workspaceId) > 0

/** How many jobs of an endpoint may go on waiting in memory. The others wait in the table, where they cost nothing. */
export const waitingAtMost = ({ concurrency, rate }: EndpointQueue, now: number): number =>
  Math.min(heldAtMost(concurrency), rate.soonAtMost(now))

/** How many requests to an endpoint may begin soon, at most. */
const soonAtMost = (queues: EndpointQueues, endpointId: string, now: number): number =>
  queues.knownOf(endpointId)?.rate?.soonAtMost(now) ?? Number.POSITIVE_INFINITY

/** How many bytes of bodies may be read now. */
export const bytesToRead = ({ all }: EndpointQueues): number => toRead(CAPACITY_BYTES, all.bytes)

const toRead = (capacity: number, used: number) =>
  Math.max(0, Math.floor(READ_LEAST * (capacity - used)), READ_SHARE * capacity - used)

/**
 * For how many more jobs there is room. An endpoint and a workspace get a share of what is left, and slow endpoints a
 * share of all, so that others always find room. The workspace may be '' for an endpoint that nothing was held for yet.
 */
function roomFor(queues: EndpointQueues, endpointId: string, workspaceId: string, free: Free): number {
  if (bytesFor(queues, endpointId, workspaceId, free.bytes) <= 0) return 0
  const ofEndpoint = Math.floor(free.jobs * ENDPOINT_SHARE) - (queues.get(endpointId)?.held ?? 0)
  const ofWorkspace = free.jobs * WORKSPACE_SHARE - (queues.loadOf(workspaceId)?.held ?? 0)
  const isSlow = queues.concurrencyOf(endpointId).responsiveness === 'slow'
  const ofSlow = isSlow ? SLOW_CAPACITY - queues.all.heldSlow : Number.POSITIVE_INFINITY
  return Math.max(0, Math.floor(Math.min(ofEndpoint, ofWorkspace, ofSlow)))
}

/** For how many more bytes there is room. The last body may have more. */
function bytesFor(queues: EndpointQueues, endpointId: string, workspaceId: string, free: number): number {
  const ofEndpoint = free * ENDPOINT_SHARE - (queues.get(endpointId)?.bytes ?? 0)
  const ofWorkspace = free * WORKSPACE_SHARE - (queues.loadOf(workspaceId)?.bytes ?? 0)
  return Math.min(ofEndpoint, ofWorkspace, unprovenBytesFor(queues, endpointId, workspaceId))
}

/** As `bytesFor`, of the share of endpoints that are not known to answer. */
function unprovenBytesFor(queues: EndpointQueues, endpointId: string, workspaceId: string): number {
  if (!isUnproven(queues.concurrencyOf(endpointId))) return Number.POSITIVE_INFINITY
  const free = UNPROVEN_BYTES - queues.all.unprovenBytes
  return free * WORKSPACE_SHARE - (queues.loadOf(workspaceId)?.unprovenBytes ?? 0)
}
