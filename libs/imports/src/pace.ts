import { type GiveWay, lettingOthersRun, requestsFirst } from '@backoffice/runtime/give-way.ts'
import { hasRecentRequests } from '@backoffice/runtime/recent-requests.ts'

/** How a piece of work goes through its rows, so that other requests do not wait for it. */
export interface Pace {
  readonly giveWay: GiveWay
  /** How many rows one statement writes: `atMost`, or fewer. */
  rowsAtOnce(atMost: number): number
}

const ROWS_OF_A_REQUEST = 100
/** Beside requests, fewer: what it takes to write them is computed without a break. */
const ROWS_BESIDE_REQUESTS = 50

/** The pace of a request with rows, for which somebody waits. Begins its work. */
export const paceOfRequest = (): Pace => ({
  giveWay: lettingOthersRun(),
  rowsAtOnce: (atMost) => Math.min(ROWS_OF_A_REQUEST, atMost),
})

/** The pace of an import. Begins the work on one of its batches. */
export const paceOfImport = (): Pace => ({
  giveWay: requestsFirst(),
  rowsAtOnce: (atMost) => (hasRecentRequests() ? Math.min(ROWS_BESIDE_REQUESTS, atMost) : atMost),
})
