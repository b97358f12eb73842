import { join } from 'node:path'
import { startKafka } from './kafka.ts'
import type { Part, Progress } from './part.ts'
import { startPostgres } from './postgres.ts'
import { startRegistry } from './registry.ts'

/** A PostgreSQL, Kafka or registry that is there to be used. */
export interface Used<Address> {
  readonly address: Address
  /** There when it runs as a program of this machine that we started. */
  readonly part?: Part
  /** Ends it when we started it. */
  stop(): Promise<unknown>
}

/** What everything here runs on; the addresses are a superuser's URL, `host:port`s, and the Confluent API's URL. */
export interface PartStarters {
  postgres(onProgress?: Progress): Promise<Used<string>>
  kafka(onProgress?: Progress): Promise<Used<string[]>>
  registry(onProgress?: Progress): Promise<Used<string>>
}

interface EmbeddedOptions {
  /** Holds each part's data in a folder of its own. */
  readonly directory: string
  /** Called with the part's name when it ended by itself. */
  onDeath?(name: string, how: string): void
}

/** Parts as programs of this machine, with their data in `directory`. */
export function embeddedParts({ directory, onDeath }: EmbeddedOptions): PartStarters {
  const options = (name: string, onProgress: Progress = () => undefined) => ({
    directory: join(directory, name),
    onProgress,
    onDeath: (how: string) => onDeath?.(name, how),
  })
  return {
    async postgres(onProgress) {
      const part = await startPostgres(options('postgres', onProgress))
      return ours(part.url, part)
    },
    async kafka(onProgress) {
      const part = await startKafka(options('kafka', onProgress))
      return ours(part.brokers, part)
    },
    async registry(onProgress) {
      const part = await startRegistry(options('registry', onProgress))
      return ours(part.url, part)
    },
  }
}

const ours = <Address>(address: Address, part: Part): Used<Address> => ({ address, part, stop: part.stop })

const theirs = <Address>(address: Address): Used<Address> => ({ address, stop: async () => undefined })

/** The parts that DATABASE_URL, KAFKA_BROKERS and SCHEMA_REGISTRY_URL name, and those of `others` where they do not. */
export function environmentOr(others: PartStarters): PartStarters {
  const { DATABASE_URL, KAFKA_BROKERS, SCHEMA_REGISTRY_URL } = process.env
  return {
    postgres: async (onProgress) => (DATABASE_URL ? theirs(DATABASE_URL) : others.postgres(onProgress)),
    kafka: async (onProgress) => (KAFKA_BROKERS ? theirs(KAFKA_BROKERS.split(',')) : others.kafka(onProgress)),
    registry: async (onProgress) => (SCHEMA_REGISTRY_URL ? theirs(SCHEMA_REGISTRY_URL) : others.registry(onProgress)),
  }
}
