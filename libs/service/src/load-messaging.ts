import { SERVICES, type ServiceName, schemaOf } from '@backoffice/contracts/services.ts'
import type { Consumer, ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import type { Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { kafkaServers } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { registryServer } from '@backoffice/messaging/registry/registry-settings.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { workerServer } from '@backoffice/postgres/database-settings.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { ProcessContext } from '@backoffice/runtime/process.ts'
import type { ServiceConfig } from './service-config.ts'

/** A service's connection to Kafka, and what starts after it: its relay among them. */
export interface Messaging {
  readonly kafka: Kafka
  readonly components: readonly Component[]
  /** Runs a consumer of the service's row over a pool. */
  consume<Value>(definition: ConsumerDefinition<Value>, db: Database): Consumer
  /** Tells the relay, if there is one, that outbox rows were committed. `inWorkspace` does it by itself. */
  wakeRelay(): void
}

/**
 * Loads the modules that a service's row calls for: others do without their memory. Returns what opens them;
 * `onProcessed` is called after records were processed.
 */
export async function loadMessaging(
  name: ServiceName,
): Promise<(config: ServiceConfig, context: ProcessContext, onProcessed: () => void) => Messaging> {
  const isPublisher = SERVICES[name].publishes.length > 0
  const { connectKafka } = await import('@backoffice/messaging/kafka/kafka.ts')
  const { firstAnswer } = await import('@backoffice/messaging/kafka/first-answer.ts')
  const { consumer } = await import('@backoffice/messaging/consumers/consumer.ts')
  const openRelay = isPublisher ? await loadRelay(name) : undefined
  return (config, context, onProcessed) => {
    const { KAFKA_BROKERS = [], KAFKA_PREFIX = '', KAFKA_TLS = false } = config
    const servers = kafkaServers({ ...config, KAFKA_BROKERS, KAFKA_PREFIX, KAFKA_TLS })
    const kafka = connectKafka({ ...servers, clientId: name, logger: context.logger })
    const relay = openRelay?.(config, kafka, context.logger)
    return {
      kafka,
      components: [firstAnswer(kafka, context.logger), ...(relay ? [relay] : [])],
      consume: (definition, db) => consumer(definition, { ...context, kafka, db, onProcessed }),
      wakeRelay: () => relay?.wake(),
    }
  }
}

async function loadRelay(name: ServiceName) {
  const { outboxRelay } = await import('@backoffice/messaging/relay/relay.ts')
  const { recordSerializer } = await import('@backoffice/messaging/registry/schema-registry.ts')
  const { refuseWrongRegistry } = await import('@backoffice/messaging/registry/registry-client.ts')
  return (config: ServiceConfig, kafka: Kafka, logger: Logger) => {
    const { SCHEMA_REGISTRY_URL = '' } = config
    const registry = registryServer({ ...config, SCHEMA_REGISTRY_URL })
    const publishing = { schema: schemaOf(name), kafka, serialize: recordSerializer(registry), logger }
    const relay = outboxRelay({ ...workerServer(config), ...publishing })
    return {
      ...relay,
      async start() {
        await refuseWrongRegistry(registry, logger)
        await relay.start()
      },
    }
  }
}
