import { type SchemaInfo, SchemaRegistryClient } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js'
import { JSON_TYPE, JsonSerializer, type ValidateFunction } from '@confluentinc/schemaregistry/dist/serde/json.js'
import { SerdeType, SerializationError } from '@confluentinc/schemaregistry/dist/serde/serde.js'

/** The value does not fit the schema registered for it, so it can never be sent. */
export class Unserialisable extends Error {}

/**
 * Compiles the validation of a schema once. The client looks for it under the sorted JSON of the whole schema, at each record: that
 * was a fifth of the time of a service that publishes much.
 */
class CompilingOnce extends JsonSerializer {
  #compiled: { readonly schema: string; readonly validate: ValidateFunction | undefined } | undefined

  override async toValidateFunction(info: SchemaInfo): Promise<ValidateFunction | undefined> {
    const { schema } = info
    if (this.#compiled?.schema !== schema) {
      this.#compiled = { schema, validate: await super.toValidateFunction(info) }
    }
    return this.#compiled.validate
  }

  /** Checks a value, and makes a record of its JSON: to write the JSON of a large value anew takes milliseconds. */
  async serializeJson(topic: string, value: object, json: string): Promise<Buffer> {
    const [schemaId, info] = await this.getSchemaId(JSON_TYPE, topic, value)
    const validate = info && (await this.toValidateFunction(info))
    if (validate && !validate(value)) {
      throw new SerializationError(`Invalid message: ${JSON.stringify(validate.errors)}`)
    }
    return this.serializeSchemaId(topic, Buffer.from(json), schemaId)
  }
}

/** Turns a record's value into bytes: Confluent wire format, JSON. Give the value's JSON where it is there already. */
export type RecordSerializer = (topic: string, value: { readonly type: string }, json?: string) => Promise<Buffer>

/** The subject of one record type of a topic. */
export const subjectOf = (topic: string, type: string): string => `${topic}-${type}`

/**
 * Serialises records under the newest schema registered for their topic and type, after checking them against it. The
 * registry is asked once per subject and process, and again for a value that does not fit: a replica of a later release
 * may have written a member that only a newer schema has. Throws Unserialisable for a value that does not fit the
 * newest schema either; any other error, such as a registry that is away or has no such subject, may pass.
 */
export function recordSerializer(registryUrl: string): RecordSerializer {
  const registry = SchemaRegistryClient.newClient({
    baseURLs: [registryUrl],
    maxRetries: 0,
    createAxiosDefaults: { timeout: 5000 },
  })
  const serializers = new Map<string, CompilingOnce>()
  const serializerOf = (subject: string) => {
    const known = serializers.get(subject)
    if (known) return known
    const serializer = new CompilingOnce(registry, SerdeType.VALUE, {
      useLatestVersion: true,
      autoRegisterSchemas: false,
      subjectNameStrategy: () => subject,
      validate: true,
      // Every format in our schemas has a pattern too, which is validated.
      validateFormats: false,
    })
    serializers.set(subject, serializer)
    return serializer
  }
  return async (topic, value, json = JSON.stringify(value)) => {
    const serializer = serializerOf(subjectOf(topic, value.type))
    try {
      return await serializer.serializeJson(topic, value, json)
    } catch (error) {
      if (!(error instanceof SerializationError)) throw error
    }
    registry.clearLatestCaches()
    try {
      return await serializer.serializeJson(topic, value, json)
    } catch (error) {
      throw error instanceof SerializationError ? new Unserialisable(error.message) : error
    }
  }
}
