/** A client that sends several requests, such as a page of a shop, sends the next ones within this time. */
const RECENT_MS = 1000

let lastAt = Number.NEGATIVE_INFINITY

/** Notes that this process has a request to answer. */
export function noteRequest(): void {
  lastAt = performance.now()
}

/** Whether requests come at present. Then work in the background leaves them time. */
export const hasRecentRequests = (): boolean => performance.now() - lastAt < RECENT_MS
