import { RestError } from '@confluentinc/schemaregistry/dist/rest-error.js'
import type { Client } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js'
import {
  JSON_TYPE,
  JsonSerializer,
  type JsonSerializerConfig,
  type ValidateFunction,
} from '@confluentinc/schemaregistry/dist/serde/json.js'
import { type SchemaId, SerdeType, SerializationError } from '@confluentinc/schemaregistry/dist/serde/serde.js'
import { registryClient } from './registry-client.ts'
import type { RegistryServer } from './registry-settings.ts'

/** The registry has no schema that the value fits. It may get one: a later release registers its own. */
export class Unserialisable extends Error {}

/** A schema of the registry, and its validation. */
interface CompiledSchema {
  readonly id: SchemaId
  readonly validate: ValidateFunction | undefined
  /** `performance.now()` */
  readonly askedAt: number
}

/** The registry is asked about a subject at most once in this time, however many values do not fit. */
const ASK_AGAIN_AFTER_MS = 200
/** The registry's error code for an unknown subject. A wrong URL answers 404 without this code. */
const SUBJECT_NOT_FOUND = 40401

/**
 * Keeps the newest schema of a subject compiled. The registry's client would look up the compiled schema for each
 * record, by the sorted JSON of the whole schema. That took a fifth of the time of a service that publishes much.
 */
class NewestSchemaSerializer extends JsonSerializer {
  /** What is known of the registry, for the serializers of all subjects. */
  readonly registry: { outage?: Outage }
  #newest: CompiledSchema | undefined
  #unknown: { readonly error: unknown; readonly askedAt: number } | undefined

  constructor(client: Client, config: JsonSerializerConfig, registry: { outage?: Outage }) {
    super(client, SerdeType.VALUE, config)
    this.registry = registry
  }

  /** Validates a value and makes a record of its JSON: serialising a large value again takes milliseconds. */
  async serializeJson(topic: string, value: object, json: string): Promise<Buffer> {
    let schema = this.#newest ?? (await this.#ask(topic, value))
    if (!fits(value, schema) && isLongAgo(schema)) {
      // The known schema stays in use while the registry is away.
      schema = await this.#ask(topic, value).catch(() => schema)
    }
    if (!fits(value, schema)) {
      throw new Unserialisable(`Invalid message: ${JSON.stringify(schema.validate?.errors)}`)
    }
    return this.serializeSchemaId(topic, Buffer.from(json), schema.id)
  }

  async #ask(topic: string, value: object): Promise<CompiledSchema> {
    const { outage } = this.registry
    if (outage !== undefined && performance.now() < outage.endsAt) throw outage.error
    if (this.#unknown !== undefined && !isLongAgo(this.#unknown)) throw this.#unknown.error
    this.client.clearLatestCaches()
    const startedAt = performance.now()
    let isAnswered = false
    try {
      const [id, info] = await this.getSchemaId(JSON_TYPE, topic, value)
      isAnswered = true
      const validate = info && (await this.toValidateFunction(info))
      this.#newest = { id, validate, askedAt: performance.now() }
      return this.#newest
    } catch (error) {
      const askedAt = performance.now()
      if (isAnswered || isAnswer(error)) this.#unknown = { error, askedAt }
      else this.registry.outage = { error, endsAt: askedAt + Math.max(askedAt - startedAt, ASK_AGAIN_AFTER_MS) }
      throw error
    }
  }
}

/** A failure that is no answer, with when the registry is asked again: after as long as that has taken. */
interface Outage {
  readonly error: unknown
  /** `performance.now()` */
  readonly endsAt: number
}

const isNotFound = (error: unknown) => error instanceof RestError && error.errorCode === SUBJECT_NOT_FOUND
/** Whether it tells of one subject. */
const isAnswer = (error: unknown) =>
  error instanceof SerializationError || (error instanceof RestError && error.status < 500)
const isLongAgo = ({ askedAt }: { readonly askedAt: number }) => performance.now() - askedAt > ASK_AGAIN_AFTER_MS
const fits = (value: object, { validate }: CompiledSchema) => validate === undefined || validate(value)

/** Serialises a record's value as JSON in Confluent wire format. `json` is its JSON, if the caller has it. */
export type RecordSerializer = (topic: string, value: { readonly type: string }, json?: string) => Promise<Buffer>

/** The subject of one record type of a topic. */
export const subjectOf = (topic: string, type: string): string => `${topic}-${type}`

/**
 * Serialises records under the newest schema registered for their topic and type, after checking them against it. The
 * registry is asked once per subject and process, and again for a value that does not fit: a replica of a later release
 * may have written a member that only a newer schema has. Throws Unserialisable for a value that does not fit the
 * newest schema either, and for a type without a schema; any other error is one of the registry.
 */
export function recordSerializer(server: RegistryServer | string): RecordSerializer {
  const client = registryClient(server)
  const serializers = new Map<string, NewestSchemaSerializer>()
  const registry: { outage?: Outage } = {}
  const serializerOf = (subject: string) => {
    const existing = serializers.get(subject)
    if (existing) return existing
    const config = {
      useLatestVersion: true,
      autoRegisterSchemas: false,
      subjectNameStrategy: () => subject,
      validate: true,
      // Every format in our schemas has a pattern too, which is validated.
      validateFormats: false,
    }
    const serializer = new NewestSchemaSerializer(client, config, registry)
    serializers.set(subject, serializer)
    return serializer
  }
  return async (topic, value, json = JSON.stringify(value)) => {
    const subject = subjectOf(topic, value.type)
    try {
      return await serializerOf(subject).serializeJson(topic, value, json)
    } catch (error) {
      if (error instanceof SerializationError) throw new Unserialisable(error.message)
      if (isNotFound(error)) throw new Unserialisable(`${subject} has no schema`)
      throw error
    }
  }
}
