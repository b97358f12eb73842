import type { IncomingBatch } from './kafka-connection.ts'

const HEARTBEAT_MS = 1500

/**
 * Sends heartbeats while `work` runs, so that a batch may take longer than the group's session. `lost` is aborted with
 * the error of the first heartbeat that failed: the group has given the partition to another member.
 */
export async function whileHeartbeating(
  batch: Pick<IncomingBatch, 'heartbeat'>,
  work: (lost: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController()
  const timer = setInterval(() => batch.heartbeat().catch((error: unknown) => lost.abort(error)), HEARTBEAT_MS)
  try {
    await work(lost.signal)
  } finally {
    clearInterval(timer)
  }
}
