import { RECORDS } from '@backoffice/contracts/events.ts'
import { retry } from '@backoffice/runtime/retry.ts'
import { Compatibility } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js'
import { z } from 'zod'
import { registryClient } from './registry-client.ts'
import type { RegistryServer } from './registry-settings.ts'
import { subjectOf } from './schema-registry.ts'

/** The shapes of records by topic and type. */
type RecordShapes = Readonly<Record<string, Readonly<Record<string, z.ZodType>>>>

/**
 * Registers the JSON Schema of every record type under its subject. Running it again changes nothing. Subjects are
 * BACKWARD_TRANSITIVE: closed schemas may get optional members, and the registry refuses every schema that older
 * records do not fit. Throws one error that names each refused subject with the registry's reason.
 */
export async function registerSchemas(server: RegistryServer | string, shapes: RecordShapes = RECORDS): Promise<void> {
  const registry = registryClient(server, 3)
  const refusals: string[] = []
  for (const [topic, types] of Object.entries(shapes)) {
    for (const [type, shape] of Object.entries(types)) {
      const subject = subjectOf(topic, type)
      // Draft 7: the registry (Apicurio 3.0.9) cannot compare schemas of draft 2020-12 and answers 500.
      // The names of zod schemas are left out, so that renaming one does not change the registered schema.
      const schema = JSON.stringify(z.toJSONSchema(shape, { target: 'draft-7', metadata: z.registry() }))
      try {
        await retry(async () => {
          await registry.updateCompatibility(subject, Compatibility.BACKWARD_TRANSITIVE)
          await registry.register(subject, { schemaType: 'JSON', schema }, false)
        }, pauseAfter)
      } catch (error) {
        refusals.push(`${subject}: ${error instanceof Error ? error.message : error}`)
      }
    }
  }
  if (refusals.length > 0) throw new Error(`the schema registry refused\n  ${refusals.join('\n  ')}`)
}

const ATTEMPTS = 4
const PAUSE_MS = 50

/** The registry refuses one of two that register a subject at once. */
const pauseAfter = (_: unknown, failures: number) =>
  failures < ATTEMPTS ? failures * PAUSE_MS * (1 + Math.random()) : undefined
