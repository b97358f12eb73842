import type { Target } from '../endpoints/targets.ts'
import type { DeliveryStatus } from '../history/delivery.ts'

/** A delivery that this process has claimed. */
export interface Claim {
  readonly deliveryId: string
  readonly eventId: string
  readonly target: Pick<Target, 'id' | 'workspaceId'>
  /** All attempts, resends included. */
  readonly attemptsMade: number
  /** The claimer. Fences the result: it is stored only while this claim holds. */
  readonly claimedBy: number
  /** `performance.now()` of the claim. */
  readonly claimedAt: number
}

/** A claimed delivery with all that its next attempt takes. */
export interface Job extends Claim {
  readonly eventType: string
  /** What the event is about: first attempts about one thing go out one after the other (OP-74). */
  readonly key: string
  readonly occurredAt: Date
  /** The traceparent of the event's record: the span of an attempt links to it. */
  readonly traceparent: string | null
  readonly target: Target
  /** The envelope's bytes, shared by all deliveries of the event. */
  readonly body: Buffer
  /** Those of the attempts outside the schedule (OP-66). */
  readonly resendsMade: number
  /** Set for an attempt outside the schedule: the delivery keeps this status and time when the attempt fails. */
  readonly resend: { readonly status: DeliveryStatus; readonly nextAttemptAt: Date | undefined } | undefined
  /** The request for a resend that this attempt answers. */
  readonly resendAt: Date | undefined
  /** The time of the first success, for a delivery that is sent again. */
  readonly deliveredAt: Date | undefined
}

/** Whether it is a first attempt, which comes before all others and in the order of its event (OP-74). */
export const isFirst = ({ attemptsMade }: Pick<Claim, 'attemptsMade'>): boolean => attemptsMade === 0
