/** A client that sends several requests, such as a page of a shop, sends the next ones within this time. */
const RECENT_MS = 1000
/** What is background work itself, since nobody waits for its answer but imports. */
const BACKGROUND = ['/internal/imports/check', '/internal/imports/undo']

let lastAt = Number.NEGATIVE_INFINITY

/** Notes that this process has a request to answer. */
export function noteRequest({ url = '' }: { readonly url?: string | undefined } = {}): void {
  if (!BACKGROUND.includes(url)) lastAt = performance.now()
}

/** Whether a request came within the last second. Background work then leaves time to requests. */
export const hasRecentRequests = (): boolean => performance.now() - lastAt < RECENT_MS
