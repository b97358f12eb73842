import { SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import { FEW_PARTITIONS, topics } from '@backoffice/contracts/topics.ts'
import { migrateServices } from '@backoffice/jobs/migrate.ts'
import { provisionServices } from '@backoffice/jobs/provision.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { registerSchemas } from '@backoffice/messaging/registry/register-schemas.ts'
import type { PasswordOf } from '@backoffice/postgres/provision.ts'
import type { Progress } from '@backoffice/testing/processes/managed-process.ts'
import {
  type BackingService,
  embeddedBackingServices,
  environmentOr,
} from '@backoffice/testing/servers/backing-services.ts'
import { type StackEnvironment, serverOf } from './service-settings.ts'
import type { Step } from './steps.ts'
import type { Supervisor } from './supervisor.ts'

interface StartOptions {
  readonly directory: string
  readonly passwordOf: PasswordOf
  readonly step: Step
  readonly supervisor: Supervisor
}

/** Starts PostgreSQL, Kafka and the schema registry side by side, and adds schemas, topics and event schemas. */
export async function startBackingServices({
  directory,
  passwordOf,
  step,
  supervisor,
}: StartOptions): Promise<Pick<StackEnvironment, 'postgres' | 'kafka' | 'registry'>> {
  const onDeath = (name: string, how: string) => void supervisor.restart(name, how)
  const services = environmentOr(embeddedBackingServices({ directory, onDeath }))
  const start = <Address>(
    name: string,
    title: string,
    run: (onProgress: Progress) => Promise<BackingService<Address>>,
  ) =>
    step(title, async (onProgress) => {
      const { address, managed } = await run(onProgress)
      if (managed) supervisor.add(name, managed)
      return address
    })

  const database = async () => {
    const url = await start('postgres', titled('PostgreSQL', 'DATABASE_URL'), services.postgres)
    await step('roles, schemas and migrations', () => prepareDatabase(url, passwordOf))
    return url
  }
  const broker = async () => {
    const brokers = await start('kafka', titled('Kafka', 'KAFKA_BROKERS'), services.kafka)
    const prefix = process.env.KAFKA_PREFIX ?? ''
    await step('topics', () =>
      createTopics(brokers, topics(FEW_PARTITIONS), { prefix, replicationFactor: 1, fix: true }),
    )
    return brokers
  }
  const schemas = async () => {
    const url = await start('registry', titled('schema registry', 'SCHEMA_REGISTRY_URL'), services.registry)
    await step('event schemas', () => registerSchemas(url))
    return url
  }
  const [postgres, kafka, registry] = await Promise.all([database(), broker(), schemas()])
  return { postgres, kafka, registry }
}

/** Names the variable that the address comes from, if it comes from one. */
const titled = (title: string, variable: string) => (process.env[variable] ? `${title} of ${variable}` : title)

async function prepareDatabase(stackServer: string, passwordOf: PasswordOf): Promise<void> {
  const databases = { adminUrlOf: (name: ServiceName) => serverOf(name, stackServer), passwordOf }
  await provisionServices(SERVICE_NAMES, databases)
  await migrateServices(SERVICE_NAMES, databases)
}
