import { type Replica, startReplica } from '@backoffice/local/replica.ts'
import type { WebhookPlace } from './subscribe.ts'

/** Does something while webhook-delivery has `count` replicas, and tells it those besides the stack's own. */
export async function withReplicas<Result>(
  place: WebhookPlace,
  count: number,
  work: (further: readonly Replica[]) => Promise<Result>,
): Promise<Result> {
  const further: Replica[] = []
  try {
    while (further.length + 1 < count)
      further.push(await startReplica('webhook-delivery', place.directory, place.description()))
    return await work(further)
  } finally {
    await Promise.all(further.map(({ process }) => process.stop()))
  }
}
