// @ts-expect-error -- it has no types of its own
import KafkajsConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js'

interface Broker {
  readonly connectionPool: { readonly host: string; readonly port: number }
  disconnect(): Promise<void>
}

interface ConsumerGroup {
  readonly cluster: {
    readonly brokerPool: { readonly brokers: Readonly<Record<string, Broker>> }
    removeBroker(pool: Broker['connectionPool']): void
  }
  recoverFromFetch(error: Error): Promise<void>
}

/**
 * kafkajs (2.2.4, consumer/consumerGroup) asks a broker that has not answered a fetch again and again. Here it forgets
 * that broker, as it does when a connection is closed, and asks the others which one leads now. It is the same one when
 * it is only slow: then the member stays in its group and fetches from it again.
 */
export function leaveSilentBrokers(): void {
  const { prototype }: { prototype: ConsumerGroup } = KafkajsConsumerGroup
  const recover = prototype.recoverFromFetch
  prototype.recoverFromFetch = async function (this: ConsumerGroup, error) {
    if (error.name !== 'KafkaJSRequestTimeoutError') return recover.call(this, error)
    const brokers = Object.values(this.cluster.brokerPool.brokers)
    const silent = brokers.find(
      ({ connectionPool: { host, port } }) => 'broker' in error && error.broker === `${host}:${port}`,
    )
    if (silent === undefined) return
    this.cluster.removeBroker(silent.connectionPool)
    void silent.disconnect().catch(() => undefined)
  }
}
