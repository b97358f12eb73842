import type { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import { CAPACITY, CAPACITY_BYTES, ENDPOINT_SHARE, SLOW_CAPACITY, WORKSPACE_SHARE } from '../scheduling/limits.ts'

/** Jobs that are about to be held. */
interface Taken {
  jobs: number
  bytes: number
}

/**
 * The room that is left in memory, reserved before it is filled. An endpoint and a workspace get a share of what is
 * left, and slow endpoints a share of all, so that others always find room.
 */
export class MemoryBudget {
  readonly #queues: EndpointQueues
  readonly #share: number
  readonly #all: Taken = { jobs: 0, bytes: 0 }
  readonly #slow: Taken = { jobs: 0, bytes: 0 }
  readonly #endpoints = new Map<string, Taken>()
  readonly #workspaces = new Map<string, Taken>()

  /** Gives out no more than `share` of the whole memory. */
  constructor(queues: EndpointQueues, share = 1) {
    this.#queues = queues
    this.#share = share
  }

  get jobs(): number {
    return this.#share * CAPACITY - this.#queues.all.held - this.#all.jobs
  }

  get bytes(): number {
    return this.#share * CAPACITY_BYTES - this.#queues.all.bytes - this.#all.bytes
  }

  /** Whether no endpoint has room. */
  get isFull(): boolean {
    return this.jobs * ENDPOINT_SHARE < 1 || this.bytes <= 0
  }

  /** For how many jobs there is room. The workspace may be left out for an endpoint that nothing was held for yet. */
  leftFor(endpointId: string, workspaceId = ''): number {
    const [endpoint, workspace] = [this.#endpoints.get(endpointId), this.#workspaces.get(workspaceId)]
    const [queue, load] = [this.#queues.get(endpointId), this.#queues.loadOf(workspaceId)]
    const { jobs, bytes } = this
    if ((queue?.bytes ?? 0) + (endpoint?.bytes ?? 0) >= bytes * ENDPOINT_SHARE) return 0
    if ((load?.bytes ?? 0) + (workspace?.bytes ?? 0) >= bytes * WORKSPACE_SHARE) return 0
    const ofEndpoint = Math.floor(jobs * ENDPOINT_SHARE) - (queue?.held ?? 0) - (endpoint?.jobs ?? 0)
    const ofWorkspace = jobs * WORKSPACE_SHARE - (load?.held ?? 0) - (workspace?.jobs ?? 0)
    const left = Math.min(ofEndpoint, ofWorkspace)
    if (!this.#isSlow(endpointId)) return Math.max(0, left)
    return Math.max(0, Math.min(left, SLOW_CAPACITY - this.#queues.all.heldSlow - this.#slow.jobs))
  }

  /** Gives out room for some jobs with so many bytes of bodies. */
  take(endpointId: string, workspaceId: string | undefined, taken: Taken): void {
    add(this.#all, taken)
    if (this.#isSlow(endpointId)) add(this.#slow, taken)
    add(countOf(this.#endpoints, endpointId), taken)
    if (workspaceId !== undefined) add(countOf(this.#workspaces, workspaceId), taken)
  }

  /** Jobs that room was given out for, in all. */
  get taken(): number {
    return this.#all.jobs
  }

  /** Jobs that room was given out for, to one endpoint. */
  takenFor(endpointId: string): number {
    return this.#endpoints.get(endpointId)?.jobs ?? 0
  }

  #isSlow(endpointId: string): boolean {
    return this.#queues.concurrencyOf(endpointId).responsiveness === 'slow'
  }
}

function countOf(counts: Map<string, Taken>, id: string): Taken {
  const count = counts.get(id) ?? { jobs: 0, bytes: 0 }
  counts.set(id, count)
  return count
}

function add(count: Taken, { jobs, bytes }: Taken): void {
  count.jobs += jobs
  count.bytes += bytes
}
