import { randomBytes, randomUUID } from 'node:crypto'
import { consumersOf, deadLetterTopic, ROUTED_SERVICES, SERVICES, urlSetting } from '@backoffice/contracts/services.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { type ServiceProcess, startServiceProcess } from '@backoffice/testing/service-process.ts'

/** The gateway as a process, alone: the services behind it are away. */
export interface GatewayProcess extends ServiceProcess {
  /** The token of the operator `bootstrap`. */
  readonly adminToken: string
  /** The prefix of its topics. */
  readonly kafkaPrefix: string
}

/** Starts the gateway with a database and topics of its own, and waits until it is ready. */
export async function startGatewayProcess(settings: Readonly<Record<string, string>> = {}): Promise<GatewayProcess> {
  const { kafkaBrokers, registryUrl } = backingServices()
  const { appUrl, workerUrl } = await testDatabase('gateway')
  const prefix = `gateway-${randomUUID()}.`
  const consumed = consumersOf('gateway').flatMap(({ name, topics }) => [...topics, deadLetterTopic(name)])
  const names = new Set([...SERVICES.gateway.publishes, ...consumed])
  const topics = [...names].map((name) => ({ name, partitions: 1, config: {} }))
  if (topics.length > 0) await createTopics(kafkaBrokers, topics, { prefix, replicationFactor: 1 })
  const adminToken = randomUUID()
  const running = await startServiceProcess('gateway', {
    DATABASE_URL: appUrl,
    WORKER_DATABASE_URL: workerUrl,
    KAFKA_BROKERS: kafkaBrokers.join(','),
    KAFKA_PREFIX: prefix,
    SCHEMA_REGISTRY_URL: registryUrl,
    ADMIN_TOKEN: adminToken,
    API_KEY_CHECK_KEYS: `test:${randomBytes(32).toString('base64')}`,
    PUBLIC_URL: 'http://127.0.0.1',
    ASSETS_URL: 'http://127.0.0.1/assets',
    ...Object.fromEntries(ROUTED_SERVICES.map((name) => [urlSetting(name), 'http://127.0.0.1:9'])),
    ...settings,
  })
  await running.ready()
  return { ...running, adminToken, kafkaPrefix: prefix }
}
