import type { Target } from '../endpoints/endpoint-directory.ts'

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
  readonly attemptsMade: number
  /** Fences the result: it counts only while this claim does. */
  readonly claimedBy: number
  /** `performance.now()` of the claim. */
  readonly claimedAt: number
}
