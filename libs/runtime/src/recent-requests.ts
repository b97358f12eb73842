/** A client that sends several requests, such as a page of a shop, sends the next ones within this time. */
const RECENT_MS = 1000
/** What imports asks of the owners of templates is background work itself. */
const BACKGROUND = '/internal/imports/'

let lastAt = Number.NEGATIVE_INFINITY

/** Notes that this process has a request to answer. */
export function noteRequest({ url = '' }: { readonly url?: string | undefined } = {}): void {
  if (!url.startsWith(BACKGROUND)) lastAt = performance.now()
}

/** Whether a request came within the last second. Background work then leaves time to requests. */
export const hasRecentRequests = (): boolean => performance.now() - lastAt < RECENT_MS
