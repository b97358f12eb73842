// @ts-expect-error -- it has no types of its own
import KafkajsQueue from 'kafkajs/src/network/requestQueue/index.js'

interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

/**
 * kafkajs (2.2.4, network/requestQueue) checks its queue of waiting requests again after `throttledUntil - now`
 * milliseconds. When nothing is throttled, that is far below zero: Node 24 warns (TimeoutNegativeWarning) and fires
 * after 1 ms, again and again on every connection. The check is needed only while a request waits.
 */
export function installRequestQueue(): void {
  const { prototype }: { prototype: RequestQueue } = KafkajsQueue
  const schedule = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this)
  }
}
