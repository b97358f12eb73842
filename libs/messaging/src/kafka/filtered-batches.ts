// @ts-expect-error -- it has no types of its own
import KafkajsBatch from 'kafkajs/src/consumer/batch.js'

interface Batch {
  readonly rawMessages: readonly unknown[]
  isEmpty(): boolean
}

/**
 * Lets kafkajs (2.2.4) hand over what it leaves empty: it takes the markers and the aborted records of transactions out
 * of a batch. It would pass over an empty one in memory, where nobody commits that.
 */
export function handOverFilteredBatches(): void {
  const { prototype }: { prototype: Batch } = KafkajsBatch
  prototype.isEmpty = function () {
    return this.rawMessages.length === 0
  }
}
