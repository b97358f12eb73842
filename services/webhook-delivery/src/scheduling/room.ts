import { heldAtMost, readAtMost } from './concurrency.ts'
import type { EndpointQueues } from './endpoint-queues.ts'
import type { Job } from './job.ts'
import { CAPACITY, CAPACITY_BYTES, ENDPOINT_SHARE, SLOW_CAPACITY, WORKSPACE_SHARE } from './limits.ts'

/** Readings leave half of the memory to the first attempts of fresh events. */
const READ_SHARE = 1 / 2

/** How many of some first attempts of one endpoint have room in memory. */
export function roomForFresh(queues: EndpointQueues, jobs: readonly Job[]): number {
  const [first] = jobs
  if (first === undefined || jobs.reduce((sum, { body }) => sum + body.length, queues.all.bytes) > CAPACITY_BYTES)
    return 0
  const { id, workspaceId } = first.target
  const ofEndpoint = heldAtMost(queues.concurrencyOf(id)) - (queues.get(id)?.firstAttempts ?? 0)
  return Math.max(0, Math.min(jobs.length, ofEndpoint, roomFor(queues, id, workspaceId)))
}

/** How many deliveries to read for an endpoint: none while it has more than half of the jobs that it may have. */
export function roomToRead(queues: EndpointQueues, endpointId: string): number {
  const held = queues.get(endpointId)?.held ?? 0
  const atMost = readAtMost(queues.concurrencyOf(endpointId))
  if (held > atMost / 2) return 0
  return Math.min(atMost - held, roomFor(queues, endpointId, queues.workspaceOf(endpointId) ?? '', READ_SHARE))
}

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
