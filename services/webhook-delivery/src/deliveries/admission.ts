import type { Target } from '../endpoints/targets.ts'
import { heldAtMost } from '../scheduling/concurrency.ts'
import type { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import { CAPACITY, READY_TARGET, READY_TARGET_PER_ENDPOINT, WORKSPACE_SHARE } from '../scheduling/limits.ts'
import { MemoryBudget } from './memory-budget.ts'
import type { WaitingDeliveries } from './waiting-deliveries.ts'

/** A workspace with more than a quarter of the waiting jobs fills the memory by itself. */
const LARGE_PART = 4

/** Whether a first attempt is made from memory; asked for each delivery in the order of their events. */
export type Admission = (target: Pick<Target, 'id' | 'workspaceId'>, bodyBytes: number) => boolean

/**
 * Admits first attempts while memory has room. After a refusal an endpoint gets no other, nor does one whose first
 * attempts wait in the table: later events must not overtake them (OP-74).
 */
export function admissionOf(queues: EndpointQueues, waitingDeliveries: WaitingDeliveries): Admission {
  const budget = new MemoryBudget(queues)
  const refused = new Set<string>()
  return ({ id, workspaceId }, bytes) => {
    const fits =
      budget.leftFor(id, workspaceId) > 0 &&
      bytes <= budget.bytes &&
      firstAttemptsOf(queues, id) + budget.takenFor(id) < heldAtMost(queues.concurrencyOf(id))
    if (!fits || refused.has(id) || waitingDeliveries.hasWaitingFirstAttempts(id)) {
      refused.add(id)
      return false
    }
    budget.take(id, workspaceId, { jobs: 1, bytes })
    return true
  }
}

/** Whether the fresh events of a workspace had better wait for a moment. */
export type Backpressure = (workspaceId: string) => boolean

/**
 * A workspace has to wait when too many of its jobs wait in memory, slow endpoints aside: more than WORKSPACE_SHARE
 * times what is left of READY_TARGET, or than READY_TARGET_PER_ENDPOINT for each endpoint. It also has to wait when
 * most of these endpoints have first attempts in the table: there each costs a third write, and later ones have to
 * follow.
 */
export function backpressureOf(queues: EndpointQueues, waitingDeliveries: WaitingDeliveries): Backpressure {
  const left = Math.max(0, READY_TARGET - queues.all.readyJobs)
  const byWorkspace = new Map<string, { endpoints: number; waiting: number }>()
  for (const { endpointId, workspaceId, concurrency } of queues) {
    if (concurrency.responsiveness === 'slow') continue
    const count = byWorkspace.get(workspaceId) ?? { endpoints: 0, waiting: 0 }
    count.endpoints++
    if (waitingDeliveries.hasWaitingFirstAttempts(endpointId)) count.waiting++
    byWorkspace.set(workspaceId, count)
  }
  return (workspaceId) => {
    const { endpoints, waiting } = byWorkspace.get(workspaceId) ?? { endpoints: 0, waiting: 0 }
    const most = Math.min(left * WORKSPACE_SHARE, endpoints * READY_TARGET_PER_ENDPOINT)
    if ((queues.loadOf(workspaceId)?.readyJobs ?? 0) > most) return true
    return waiting > endpoints / 2
  }
}

/**
 * Whether the fresh events of all workspaces should wait: jobs for endpoints that are not slow fill a quarter of the
 * memory, and no workspace has a large part of them. Nobody waits for what one workspace fills.
 */
export function isOverloaded(queues: EndpointQueues): boolean {
  const { readyJobs } = queues.all
  if (readyJobs <= CAPACITY / 4) return false
  for (const { workspaceId } of queues) {
    if ((queues.loadOf(workspaceId)?.readyJobs ?? 0) > readyJobs / LARGE_PART) return false
  }
  return true
}

/** First attempts held for an endpoint. */
function firstAttemptsOf(queues: EndpointQueues, endpointId: string): number {
  const queue = queues.get(endpointId)
  return queue === undefined ? 0 : queue.held - queue.repeats
}
