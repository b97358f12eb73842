import type { Target } from '../endpoints/targets.ts'
import type { DeliveryStatus } from '../history/delivery.ts'

/** A due delivery with all that its next attempt takes. */
export interface Job {
  readonly deliveryId: string
  readonly eventId: string
  readonly eventType: string
  /** What the event is about: first attempts about one thing go out one after the other (OP-74). */
  readonly key: string
  readonly occurredAt: Date
  /** The traceparent of the event's record: the span of an attempt links to it. */
  readonly traceparent: string | null
  /** The endpoint as it was when the delivery became due; an attempt uses it as it is then. */
  readonly target: Target
  /** The envelope's bytes, shared by all deliveries of the event. */
  readonly body: Buffer
  /** All attempts, resends included. The result of an attempt is stored only while the table has this number. */
  readonly attemptsMade: number
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
export const isFirst = ({ attemptsMade }: Pick<Job, 'attemptsMade'>): boolean => attemptsMade === 0
