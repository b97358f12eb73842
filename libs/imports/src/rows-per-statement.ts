import { hasRecentRequests } from '@backoffice/runtime/recent-requests.ts'

/** The most rows of a statement while requests come: a larger one blocks the event loop for longer than a request takes. */
const ROWS_BESIDE_REQUESTS = 100

/** How many rows of an import one statement writes: `atMost`, or fewer while requests come. */
export const rowsPerStatement = (atMost: number): number =>
  hasRecentRequests() ? Math.min(ROWS_BESIDE_REQUESTS, atMost) : atMost
