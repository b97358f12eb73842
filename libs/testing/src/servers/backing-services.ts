import { join } from 'node:path'
import type { ManagedProcess, Progress } from '../processes/managed-process.ts'
import { startKafka } from './kafka.ts'
import { startPostgres } from './postgres.ts'
import { startRegistry } from './registry.ts'

/** A PostgreSQL, Kafka or schema registry that is ready for use. */
export interface BackingService<Address> {
  readonly address: Address
  /** Its process, when this process started it as a program of this machine. */
  readonly managed?: ManagedProcess
  /** Ends it, when this process started it. */
  stop(): Promise<unknown>
}

/** One way to get the backing services: a superuser's URL, `host:port`s and the URL of the Confluent API. */
export interface BackingServices {
  postgres(onProgress?: Progress): Promise<BackingService<string>>
  kafka(onProgress?: Progress): Promise<BackingService<string[]>>
  registry(onProgress?: Progress): Promise<BackingService<string>>
}

interface EmbeddedOptions {
  /** Holds the data of each service in a folder of its own. */
  readonly directory: string
  readonly postgresSettings?: Readonly<Record<string, string>>
  /** Called with the service's name when it ended by itself. */
  onDeath?(name: string, how: string): void
}

/** Starts the backing services as programs of this machine, with their data in `directory`. */
export function embeddedBackingServices({ directory, postgresSettings, onDeath }: EmbeddedOptions): BackingServices {
  const options = (name: string, onProgress?: Progress) => ({
    directory: join(directory, name),
    onProgress,
    onDeath: (how: string) => onDeath?.(name, how),
  })
  const started = <Address>(address: Address, managed: ManagedProcess) => ({ address, managed, stop: managed.stop })
  return {
    async postgres(onProgress) {
      const managed = await startPostgres({ ...options('postgres', onProgress), settings: postgresSettings })
      return started(managed.url, managed)
    },
    async kafka(onProgress) {
      const managed = await startKafka(options('kafka', onProgress))
      return started(managed.brokers, managed)
    },
    async registry(onProgress) {
      const managed = await startRegistry(options('registry', onProgress))
      return started(managed.url, managed)
    },
  }
}

const given = <Address>(address: Address): BackingService<Address> => ({ address, stop: async () => undefined })

/** Uses DATABASE_URL, KAFKA_BROKERS and SCHEMA_REGISTRY_URL, and `others` for a variable that is not set. */
export function environmentOr(others: BackingServices): BackingServices {
  const { DATABASE_URL, KAFKA_BROKERS, SCHEMA_REGISTRY_URL } = process.env
  return {
    postgres: async (onProgress) => (DATABASE_URL ? given(DATABASE_URL) : others.postgres(onProgress)),
    kafka: async (onProgress) => (KAFKA_BROKERS ? given(KAFKA_BROKERS.split(',')) : others.kafka(onProgress)),
    registry: async (onProgress) => (SCHEMA_REGISTRY_URL ? given(SCHEMA_REGISTRY_URL) : others.registry(onProgress)),
  }
}
