import type { Target, Targets } from '../endpoints/targets.ts'
import type { Claim, Job } from '../scheduling/job.ts'
import { bodyBytes } from '../sending/body-bytes.ts'
import type { ClaimedDelivery, OwnClaim } from './claims.ts'

/** Under which number, and when (`performance.now()`), deliveries were claimed. */
export type Claimed = Pick<Claim, 'claimedBy' | 'claimedAt'>

/** The claim of a delivery whose endpoint is not known yet. */
export const claimOf = ({ id, eventId, workspaceId, endpointId, attemptsMade }: OwnClaim, claimed: Claimed): Claim => ({
  deliveryId: id,
  eventId,
  target: { workspaceId, id: endpointId },
  attemptsMade,
  ...claimed,
})

/** The jobs of claimed deliveries, but for those whose endpoint is deleted. Those of one event share its body. */
export function jobsOf(
  claimed: readonly ClaimedDelivery[],
  workspaces: ReadonlyMap<string, Targets>,
  now: Date,
  claim: Claimed,
): Job[] {
  const bodies = new Map<string, Buffer>()
  return claimed.flatMap((delivery) => {
    const target = workspaces.get(delivery.workspaceId)?.get(delivery.endpointId)
    if (target === undefined) return []
    const body = bodies.get(delivery.eventId) ?? bodyBytes(delivery.body)
    bodies.set(delivery.eventId, body)
    return [jobOf(delivery, now, { target, body, ...claim })]
  })
}

/** An attempt that the schedule makes due now counts on the schedule, and serves a requested resend as well. */
function jobOf(delivery: ClaimedDelivery, now: Date, held: Claimed & { target: Target; body: Buffer }): Job {
  const { id, eventId, eventType, key, occurredAt, traceparent, attemptsMade, resendsMade } = delivery
  const { status, nextAttemptAt, resendAt, deliveredAt } = delivery
  const isScheduled = nextAttemptAt !== null && nextAttemptAt <= now
  return {
    deliveryId: id,
    eventId,
    eventType,
    key,
    occurredAt,
    traceparent,
    attemptsMade,
    resendsMade,
    resend: isScheduled ? undefined : { status, nextAttemptAt: nextAttemptAt ?? undefined },
    resendAt: resendAt ?? undefined,
    deliveredAt: deliveredAt ?? undefined,
    ...held,
  }
}
