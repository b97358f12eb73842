import type { DeliveryStatus } from '../history/delivery.ts'

/** A delivery that has to exist, or may have to: see `isCertain`. */
export interface ExpectedDelivery {
  readonly workspaceId: string
  readonly eventId: string
  readonly eventType: string
  readonly endpointId: string
  /** False when the endpoint may have had another subscription, or no row yet, when the event was consumed. */
  readonly isCertain: boolean
  readonly isConsumed: boolean
}

export interface FoundDelivery {
  readonly status: DeliveryStatus
  readonly nextAttemptAt: Date | null
  readonly isBusy: boolean
  readonly attemptsMade: number
  /** Number of rows of attempts, and of the successful ones among them. */
  readonly attempts: number
  readonly successes: number
  readonly hasEvent: boolean
}

/** `no_success` is delivered without a successful attempt; `attempts` has other rows of attempts than are counted. */
export const DISCREPANCIES = ['missing', 'twice', 'no_event', 'overdue', 'no_success', 'attempts'] as const
export type Discrepancy = (typeof DISCREPANCIES)[number]

/** The result for an expected delivery: the status of its row, the reason why there is none, or `missing`. */
export type Outcome = DeliveryStatus | 'unknown' | 'unconsumed' | 'backlog' | 'missing'

/** What is known of an expected delivery. `pausedUntil` is that of its endpoint, in Unix milliseconds. */
type Judged = Pick<ExpectedDelivery, 'isCertain' | 'isConsumed'> & {
  readonly isInBacklog?: boolean
  readonly pausedUntil?: number | undefined
}

/** Compares an expected delivery with the rows found. A pending one that was due before `overdueBefore` is overdue. */
export function judge(
  expected: Judged,
  found: readonly FoundDelivery[],
  overdueBefore: Date,
): { outcome: Outcome; discrepancies: readonly Discrepancy[] } {
  const [first] = found
  if (first !== undefined) {
    const isLate = (one: FoundDelivery) => isOverdue(one, overdueBefore, expected.pausedUntil ?? 0)
    return { outcome: first.status, discrepancies: [...discrepanciesOf(found, isLate)] }
  }
  if (!expected.isConsumed) return { outcome: 'unconsumed', discrepancies: [] }
  if (expected.isInBacklog) return { outcome: 'backlog', discrepancies: [] }
  if (!expected.isCertain) return { outcome: 'unknown', discrepancies: [] }
  return { outcome: 'missing', discrepancies: ['missing'] }
}

function* discrepanciesOf(
  found: readonly FoundDelivery[],
  isLate: (delivery: FoundDelivery) => boolean,
): Generator<Discrepancy> {
  if (found.length > 1) yield 'twice'
  if (found.some(({ hasEvent }) => !hasEvent)) yield 'no_event'
  if (found.some(isLate)) yield 'overdue'
  if (found.some(({ status, successes }) => status === 'DELIVERED' && successes === 0)) yield 'no_success'
  if (found.some(({ attemptsMade, attempts }) => attemptsMade !== attempts)) yield 'attempts'
}

/** What waits with its endpoint is due from the end of that pause on. */
function isOverdue(
  { status, nextAttemptAt, isBusy }: FoundDelivery,
  overdueBefore: Date,
  pausedUntil: number,
): boolean {
  if (status !== 'PENDING' || isBusy) return false
  return nextAttemptAt === null || Math.max(nextAttemptAt.getTime(), pausedUntil) < overdueBefore.getTime()
}
