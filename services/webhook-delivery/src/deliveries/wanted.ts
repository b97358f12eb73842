import { claimedAtMost } from '../scheduling/concurrency.ts'
import type { EndpointQueues } from '../scheduling/endpoint-queues.ts'
import type { Wanted } from './claims.ts'
import { MemoryBudget } from './memory-budget.ts'
import type { WaitingDeliveries } from './waiting-deliveries.ts'

/** Claims leave half of the memory to first attempts of fresh events. */
const CLAIMS_SHARE = 1 / 2
/** What one statement claims at most, about: it is not to keep others waiting. */
const CLAIM_LIMITS = { endpoints: 200, deliveries: 1024, bytes: 8 * 1024 * 1024 } as const
/** The least share of an endpoint in a claim, however many endpoints have due deliveries. */
const MIN_SHARE = 4
/** The share of first attempts in a claim for an endpoint whose first attempts wait in the table. */
const FIRST_ATTEMPTS_SHARE = 3 / 4

/**
 * Chooses the due endpoints to claim for, in their turns, and the number of deliveries for each. Parks endpoints that
 * have enough jobs or no room.
 */
export function wantedFrom(waitingDeliveries: WaitingDeliveries, queues: EndpointQueues, now: Date): Wanted[] {
  const due = waitingDeliveries.due(now)
  const budget = new MemoryBudget(queues, CLAIMS_SHARE)
  const fairShare = Math.max(MIN_SHARE, Math.floor(Math.min(budget.jobs, CLAIM_LIMITS.deliveries) / due.length))
  const wanted: Wanted[] = []
  for (const endpointId of due) {
    if (wanted.length === CLAIM_LIMITS.endpoints || budget.taken >= CLAIM_LIMITS.deliveries || budget.isFull) break
    const jobs = Math.min(fairShare, jobsFor(endpointId, queues, budget))
    if (jobs <= 0) {
      waitingDeliveries.park(endpointId)
      continue
    }
    waitingDeliveries.hadTurn(endpointId)
    budget.take(endpointId, queues.workspaceOf(endpointId), { jobs, bytes: 0 })
    const firstAttempts = waitingDeliveries.hasWaitingFirstAttempts(endpointId)
      ? Math.ceil(jobs * FIRST_ATTEMPTS_SHARE)
      : 0
    wanted.push({ endpointId, firstAttempts, repeats: jobs - firstAttempts })
  }
  return wanted
}

/** How many bytes of bodies to claim. */
export const claimableBytes = (queues: EndpointQueues): number =>
  Math.min(CLAIM_LIMITS.bytes, new MemoryBudget(queues, CLAIMS_SHARE).bytes)

/** How many deliveries to claim for an endpoint: none while it has more than half of its jobs. */
function jobsFor(endpointId: string, queues: EndpointQueues, budget: MemoryBudget): number {
  const held = queues.get(endpointId)?.held ?? 0
  const atMost = claimedAtMost(queues.concurrencyOf(endpointId))
  return held > atMost / 2 ? 0 : Math.min(atMost - held, budget.leftFor(endpointId, queues.workspaceOf(endpointId)))
}
