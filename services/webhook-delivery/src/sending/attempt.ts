import type { Exchange, Outgoing } from '@backoffice/outbound/post.ts'
import { delayAfter } from '@backoffice/runtime/retry-schedule.ts'
import type { TraceIds } from '@backoffice/runtime/spans.ts'
import type { DeliveryStatus } from '../history/delivery.ts'
import type { Job } from '../scheduling/job.ts'
import { type Signing, signatureOf } from '../secrets/signature.ts'

const USER_AGENT = 'CommerceBackOffice-Webhooks/1'

/** The request of one attempt to its endpoint as it is now, signed now (spec: Delivery headers; OP-62, OP-64). */
export function outgoingOf(
  { eventId, body }: Pick<Job, 'eventId' | 'body'>,
  { url, signing }: { readonly url: URL; readonly signing: Signing },
  now: Date,
): Outgoing {
  const timestamp = Math.floor(now.getTime() / 1000)
  return {
    url,
    body,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': USER_AGENT,
      'Webhook-Id': eventId,
      'Webhook-Timestamp': String(timestamp),
      'Webhook-Signature': signatureOf(signing, { id: eventId, timestamp, body }, now),
    },
  }
}

/** An attempt that was made. */
export interface Attempt {
  readonly job: Job
  /** The ids of its span, for its log line. */
  readonly trace?: TraceIds | undefined
  readonly startedAt: Date
  readonly sent: Outgoing
  readonly exchange: Exchange
  /** What the delivery is after it. */
  readonly status: DeliveryStatus
  readonly nextAttemptAt: Date | undefined
  readonly deliveredAt: Date | undefined
}

/**
 * The result of an attempt: DELIVERED, PENDING with the next time of the schedule, or FAILED after the last attempt
 * (spec: Retries). A failed resend keeps the delivery's status and schedule (OP-66). `schedule` and `jitter` are those
 * of `delayAfter`.
 */
export function outcomeOf(
  made: Pick<Attempt, 'job' | 'trace' | 'startedAt' | 'sent' | 'exchange'>,
  schedule: readonly number[],
  jitter: number,
): Attempt {
  const endedAt = new Date(made.startedAt.getTime() + made.exchange.durationMs)
  if (made.exchange.failure === null) {
    return { ...made, status: 'DELIVERED', nextAttemptAt: undefined, deliveredAt: made.job.deliveredAt ?? endedAt }
  }
  const { resend, attemptsMade, resendsMade, deliveredAt } = made.job
  if (resend !== undefined) return { ...made, status: resend.status, nextAttemptAt: resend.nextAttemptAt, deliveredAt }
  const ofSchedule = attemptsMade - resendsMade + 1
  const delayMs = delayAfter(ofSchedule, schedule, jitter)
  const next = delayMs === undefined ? undefined : new Date(endedAt.getTime() + delayMs)
  return { ...made, status: next === undefined ? 'FAILED' : 'PENDING', nextAttemptAt: next, deliveredAt: undefined }
}

/** An attempt without headers and body of its answer, for one that PostgreSQL refuses. The new status stays. */
export function withoutAnswer(attempt: Attempt): Attempt {
  const { durationMs, response, failure } = attempt.exchange
  const left = response && { status: response.status, headers: {}, body: Buffer.alloc(0), isTruncated: true }
  if (left !== null && failure === null) return { ...attempt, exchange: { durationMs, response: left, failure } }
  const message = 'the answer could not be stored'
  return {
    ...attempt,
    exchange: { durationMs, response: left, failure: { class: failure?.class ?? 'status', message } },
  }
}
