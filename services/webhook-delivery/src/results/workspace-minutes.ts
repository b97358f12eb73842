import type { Exchange } from '@backoffice/outbound/post.ts'
import { counter } from '@backoffice/runtime/metrics.ts'

const minutes = counter(
  'webhook_workspace_minutes',
  'Minutes in which a workspace had attempts, by whether one was answered within 5 s, and whether one was not',
)
for (const outcome of ['answered', 'unanswered']) minutes.add(0, { outcome })

/** A receiver answers within this time unless something is wrong, with it or on the way, in milliseconds. */
const IN_TIME_MS = 5000
const MINUTE_MS = 60_000

/**
 * Counts each workspace alike, however many attempts it has: what most of them meet is not the fault of receivers.
 * `now` is `performance.now()`.
 */
export function workspaceMinutes() {
  let since = Number.NEGATIVE_INFINITY
  const counted = new Set<string>()
  return (workspaceId: string, { response, durationMs }: Pick<Exchange, 'response' | 'durationMs'>, now: number) => {
    if (now - since >= MINUTE_MS) {
      since = now
      counted.clear()
    }
    const outcome = response !== null && durationMs < IN_TIME_MS ? 'answered' : 'unanswered'
    const key = `${workspaceId} ${outcome}`
    if (counted.has(key)) return
    counted.add(key)
    minutes.add(1, { outcome })
  }
}
