import { hasRecentRequests } from '@backoffice/runtime/recent-requests.ts'

/** A statement of more rows holds up the event loop, and every request with it, for longer than a request takes. */
const ROWS_BESIDE_REQUESTS = 100

/** How many rows of an import are written with one statement: all that `atMost` says, or fewer while requests come. */
export const rowsAtOnce = (atMost: number): number =>
  hasRecentRequests() ? Math.min(ROWS_BESIDE_REQUESTS, atMost) : atMost
