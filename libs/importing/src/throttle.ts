import { backgroundWork, type GiveWay, lettingOthersRun, restsAreOver } from '@backoffice/runtime/give-way.ts'
import { hasRecentRequests } from '@backoffice/runtime/recent-requests.ts'

/** How a piece of work goes through its rows, so that other requests do not wait for it. */
export interface Throttle {
  readonly giveWay: GiveWay
  /** How many rows one statement writes: `atMost`, or fewer. */
  rowsAtOnce(atMost: number): number
  /** How much one transaction takes on before it leaves the other rows to a next one: `atMost`, or all. */
  inTransaction(atMost: number): number
}

const ROWS_OF_A_REQUEST = 100
/** Beside requests, fewer: what it takes to write them is computed without a break. */
const ROWS_BESIDE_REQUESTS = 50

/** The throttle of a request with rows, for which somebody waits. */
export const requestThrottle = (): Throttle => ({
  giveWay: lettingOthersRun(),
  rowsAtOnce: (atMost) => Math.min(ROWS_OF_A_REQUEST, atMost),
  inTransaction: () => Number.POSITIVE_INFINITY,
})

/**
 * The throttle of an import, for one piece of its work. Calls `noteProgress` as often as it gives way. `end` is to be
 * called after its commit.
 */
export function importThrottle(noteProgress?: () => void): Throttle & { end(): void } {
  const { giveWay, end } = backgroundWork()
  return {
    giveWay() {
      noteProgress?.()
      return giveWay()
    },
    rowsAtOnce: (atMost) => (hasRecentRequests() ? Math.min(ROWS_BESIDE_REQUESTS, atMost) : atMost),
    inTransaction: () => Number.POSITIVE_INFINITY,
    end,
  }
}

/** Does a piece of an import's work once the rests after others are over. Ends it when `work` has. */
export async function throttled<Result>(work: (throttle: Throttle) => Promise<Result>): Promise<Result> {
  await restsAreOver()
  const { end, ...throttle } = importThrottle()
  try {
    return await work(throttle)
  } finally {
    end()
  }
}
