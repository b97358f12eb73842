import { RECORDS } from '@backoffice/contracts/events.ts'
import { Compatibility, SchemaRegistryClient } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js'
import { z } from 'zod'
import { subjectOf } from './schema-registry.ts'

/** The shape of each type of record of each topic. */
export type RecordShapes = Readonly<Record<string, Readonly<Record<string, z.ZodType>>>>

/**
 * Registers the JSON Schema of every record type under its subject; running it again changes nothing. Subjects are
 * BACKWARD_TRANSITIVE, which with closed schemas lets optional members be added and refuses everything that a reader of
 * older records would stumble over. Throws one error naming each refused subject with the registry's reason.
 */
export async function registerSchemas(registryUrl: string, shapes: RecordShapes = RECORDS): Promise<void> {
  const registry = SchemaRegistryClient.newClient({ baseURLs: [registryUrl] })
  const refusals: string[] = []
  for (const [topic, types] of Object.entries(shapes)) {
    for (const [type, shape] of Object.entries(types)) {
      const subject = subjectOf(topic, type)
      try {
        await registry.updateCompatibility(subject, Compatibility.BACKWARD_TRANSITIVE)
        await registry.register(subject, { schemaType: 'JSON', schema: JSON.stringify(schemaOf(shape)) }, false)
      } catch (error) {
        refusals.push(`${subject}: ${error instanceof Error ? error.message : error}`)
      }
    }
  }
  if (refusals.length > 0) throw new Error(`the schema registry refused\n  ${refusals.join('\n  ')}`)
}

/** Draft 7: the registry (Apicurio 3.0.9) cannot compare schemas of draft 2020-12 and answers 500. */
const schemaOf = (shape: z.ZodType) => z.toJSONSchema(shape, { target: 'draft-7' })
