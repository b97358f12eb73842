import type { DeliveryStatus } from '../deliveries/delivery.ts'

/** One delivery that there has to be, or may have to be. */
export interface ExpectedDelivery {
  readonly workspaceId: string
  readonly eventId: string
  readonly eventType: string
  readonly endpointId: string
  /** False when the endpoint may have asked for other events, or may not have been there, when the event was consumed. */
  readonly isCertain: boolean
  /** Whether the fan-out has passed the event's record. */
  readonly isConsumed: boolean
}

/** A delivery as the table has it. */
export interface FoundDelivery {
  readonly status: DeliveryStatus
  readonly nextAttemptAt: Date | null
  /** Whether a claim on it holds by now. */
  readonly isClaimed: boolean
  readonly attemptsMade: number
  /** Rows of attempts, and those of them that were successful. */
  readonly attempts: number
  readonly successes: number
  /** Whether the event is in the table. */
  readonly hasEvent: boolean
}

/** What is wrong with a delivery, in the order in which it is printed. */
export const PROBLEMS = {
  missing: 'missing',
  twice: 'twice',
  no_event: 'without their event',
  overdue: 'overdue',
  no_success: 'delivered without a successful attempt',
  attempts: 'with other attempts than are counted',
} as const
export type Problem = keyof typeof PROBLEMS

/** What became of an expected delivery: that it is there, why nothing can be said of it, or that it is missing. */
export type Standing = DeliveryStatus | 'unknown' | 'unconsumed' | 'missing'

export interface Judgement {
  readonly standing: Standing
  readonly problems: readonly Problem[]
}

/** Judges an expected delivery by what was found; `overdueBefore` is by when a pending one must have been due to be overdue. */
export function judge(
  expected: Pick<ExpectedDelivery, 'isCertain' | 'isConsumed'>,
  found: readonly FoundDelivery[],
  overdueBefore: Date,
): Judgement {
  const [first] = found
  if (first !== undefined) return { standing: first.status, problems: [...problemsOf(found, overdueBefore)] }
  if (!expected.isConsumed) return { standing: 'unconsumed', problems: [] }
  if (!expected.isCertain) return { standing: 'unknown', problems: [] }
  return { standing: 'missing', problems: ['missing'] }
}

function* problemsOf(found: readonly FoundDelivery[], overdueBefore: Date): Generator<Problem> {
  if (found.length > 1) yield 'twice'
  if (found.some(({ hasEvent }) => !hasEvent)) yield 'no_event'
  if (found.some((delivery) => isOverdue(delivery, overdueBefore))) yield 'overdue'
  if (found.some(({ status, successes }) => status === 'DELIVERED' && successes === 0)) yield 'no_success'
  if (found.some(({ attemptsMade, attempts }) => attemptsMade !== attempts)) yield 'attempts'
}

/** Pending, and nobody is about to make the attempt. */
function isOverdue({ status, nextAttemptAt, isClaimed }: FoundDelivery, overdueBefore: Date): boolean {
  if (status !== 'PENDING' || isClaimed) return false
  return nextAttemptAt === null || nextAttemptAt < overdueBefore
}
