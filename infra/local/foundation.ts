import { join } from 'node:path'
import { topics } from '@backoffice/kafka-topics/topics.ts'
import { createTopics } from '@backoffice/messaging/create-topics.ts'
import { registerSchemas } from '@backoffice/messaging/register-schemas.ts'
import { migrate } from '@backoffice/postgres/migrate.ts'
import { migratorUrl, provision } from '@backoffice/postgres/provision.ts'
import type { Part, Progress } from './part.ts'
import { embeddedParts, environmentOr, type Used } from './parts.ts'
import { schemaOf, serviceDirectory, services } from './services.ts'
import type { Step } from './steps.ts'

/** Addresses of what the services stand on. */
export interface Foundation {
  readonly postgres: string
  readonly kafka: string[]
  readonly registry: string
}

interface FoundationOptions {
  readonly directory: string
  readonly rolePassword: string
  readonly step: Step
  /** Called with each part that was started here, as soon as it runs. */
  onPart(name: string, part: Part): void
  /** Called when one of them ended by itself. */
  onDeath(name: string, how: string): void
}

/** Starts PostgreSQL, Kafka and the registry side by side and brings each to where the services need it. */
export async function startFoundation(options: FoundationOptions): Promise<Foundation> {
  const { directory, rolePassword, step, onPart, onDeath } = options
  const starters = environmentOr(embeddedParts({ directory, onDeath }))
  const start = <Address>(name: string, title: string, run: (onProgress: Progress) => Promise<Used<Address>>) =>
    step(title, async (onProgress) => {
      const { address, part } = await run(onProgress)
      if (part) onPart(name, part)
      return address
    })

  const database = async () => {
    const url = await start('postgres', titled('PostgreSQL', 'DATABASE_URL'), starters.postgres)
    await step('roles, schemas and migrations', () => prepareDatabase(url, rolePassword))
    return url
  }
  const broker = async () => {
    const brokers = await start('kafka', titled('Kafka', 'KAFKA_BROKERS'), starters.kafka)
    const prefix = process.env.KAFKA_PREFIX ?? ''
    await step('topics', () => createTopics(brokers, topics, { prefix, replicationFactor: 1 }))
    return brokers
  }
  const schemas = async () => {
    const url = await start('registry', titled('schema registry', 'SCHEMA_REGISTRY_URL'), starters.registry)
    await step('event schemas', () => registerSchemas(url))
    return url
  }
  const [postgres, kafka, registry] = await Promise.all([database(), broker(), schemas()])
  return { postgres, kafka, registry }
}

/** Says so when a part is not ours but the one that a variable names. */
const titled = (title: string, variable: string) => (process.env[variable] ? `${title} of ${variable}` : title)

async function prepareDatabase(url: string, password: string): Promise<void> {
  await provision(url, { schemas: services.map(({ name }) => schemaOf(name)), password })
  for (const { name } of services) {
    const directory = join(serviceDirectory(name), 'migrations')
    await migrate({ url: migratorUrl(url, password), schema: schemaOf(name), directory })
  }
}
