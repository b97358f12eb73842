import type { Targets } from '../endpoints/targets.ts'
import type { Job } from '../scheduling/job.ts'
import { bodyBytes } from '../sending/body-bytes.ts'
import type { Key } from './busy-deliveries.ts'
import { type DueDelivery, eventOf } from './read-due.ts'

/**
 * The jobs of due deliveries, in their order, and those whose endpoint is `deleted`. Jobs of one event share its body,
 * which `bodies` has by `eventOf`. Without `bodies` they have none, since they are not to be sent.
 */
export function jobsOf(
  deliveries: readonly DueDelivery[],
  workspaces: ReadonlyMap<string, Targets>,
  bodies?: ReadonlyMap<string, string>,
) {
  const shared = new Map<string, Buffer>()
  const jobs: { readonly job: Job; readonly busyUntil: Date | null }[] = []
  const deleted: Key[] = []
  for (const delivery of deliveries) {
    const { workspaceId, endpointId, id: deliveryId, eventId, attemptsMade, busyUntil } = delivery
    const target = workspaces.get(workspaceId)?.get(endpointId)
    if (target === undefined) {
      deleted.push({ deliveryId, eventId, attemptsMade, target: { id: endpointId, workspaceId } })
      continue
    }
    const event = eventOf(delivery)
    const text = bodies === undefined ? '' : bodies.get(event)
    if (text === undefined) throw new Error(`event ${eventId} was read without its body`)
    const body = shared.get(event) ?? bodyBytes(text)
    shared.set(event, body)
    jobs.push({ job: jobOf(delivery, target, body), busyUntil })
  }
  return { jobs, deleted }
}

/** When the scheduled attempt and a requested resend are both due, one attempt serves both, as the scheduled one. */
function jobOf(delivery: DueDelivery, target: Job['target'], body: Buffer): Job {
  const { id, eventId, eventType, key, occurredAt, traceparent, attemptsMade, resendsMade } = delivery
  const { status, nextAttemptAt, isScheduled, resendAt, deliveredAt } = delivery
  return {
    deliveryId: id,
    eventId,
    eventType,
    key,
    occurredAt,
    traceparent,
    target,
    body,
    attemptsMade,
    resendsMade,
    resend: isScheduled ? undefined : { status, nextAttemptAt: nextAttemptAt ?? undefined },
    resendAt: resendAt ?? undefined,
    deliveredAt: deliveredAt ?? undefined,
  }
}
