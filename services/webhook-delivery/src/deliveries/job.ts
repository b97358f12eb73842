import type { Target } from '../endpoints/targets.ts'
import type { DeliveryStatus } from './delivery.ts'

/** A delivery whose next attempt this process has claimed. */
export interface Job {
  readonly deliveryId: string
  readonly eventId: string
  readonly eventType: string
  /** What the event is about: first attempts about one thing go out one after the other (OP-74). */
  readonly key: string
  readonly occurredAt: Date
  readonly target: Target
  /** The envelope's bytes, shared by all deliveries of the event. */
  readonly body: Buffer
  /** All attempts, resends included. */
  readonly attemptsMade: number
  /** Those of them outside the schedule (OP-66). */
  readonly resendsMade: number
  /** Set when this attempt is outside the schedule: what the delivery stays as should it fail. */
  readonly resend: { readonly status: DeliveryStatus; readonly nextAttemptAt: Date | undefined } | undefined
  /** The request for a resend that this attempt answers. */
  readonly resendAt: Date | undefined
  /** When it was delivered first, for one that is sent again. */
  readonly deliveredAt: Date | undefined
  /** Fences the result: it counts only while this claim does. */
  readonly claimedBy: number
  /** `performance.now()` of the claim. */
  readonly claimedAt: number
}
