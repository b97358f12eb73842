// @ts-expect-error -- it has no types of its own
import KafkajsConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js'

interface ConsumerGroup {
  joinAndSync(): Promise<void>
}

/**
 * Ends a member that cannot join its group again, so that a new one joins. kafkajs (2.2.4, consumer/runner) goes on to
 * fetch instead when the group has forgotten the member and the coordinator still loads its groups, or is away: the
 * member processes records beside the group, sends no heartbeats, and all its commits are refused.
 */
export function endAfterFailedJoins(): void {
  const { prototype }: { prototype: ConsumerGroup } = KafkajsConsumerGroup
  const join = prototype.joinAndSync
  prototype.joinAndSync = function () {
    return join.call(this).catch((error: Error) => {
      throw Object.assign(error, { retriable: false })
    })
  }
}
