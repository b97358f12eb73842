import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

type Json = Record<string, unknown>

/** The parts that an OpenAPI document has once, by kind (`schemas`, `responses`, …) and name. */
export type Components = Readonly<Record<string, Json>>

/** Merges components. Throws when two of one name differ: a reference to it would be wrong for one of them. */
export function mergeComponents(all: readonly Components[]): Components {
  const merged: Record<string, Json> = {}
  for (const components of all) {
    for (const [kind, entries] of Object.entries(components)) {
      const known = merged[kind] ?? {}
      const other = Object.keys(entries).find((name) => name in known && !isDeepStrictEqual(known[name], entries[name]))
      if (other !== undefined) throw new Error(`${kind} has two different ${other}`)
      merged[kind] = { ...known, ...entries }
    }
  }
  return merged
}

/** Throws when an operation id is there twice. */
export function refuseRepeated(operationIds: readonly string[]): void {
  const repeated = operationIds.find((id, index) => operationIds.indexOf(id) !== index)
  if (repeated !== undefined) throw new Error(`two operations have the operationId ${repeated}`)
}

/** Describes a schema as clients send it or as answers have it. Named schemas become references to the components. */
export function describeSchema(schema: z.ZodType, io: 'input' | 'output'): { schema: Json; components: Components } {
  const json = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any', override: withExamples }))
  const {
    $schema: _,
    $defs: schemas = {},
    ...rest
  } = JSON.parse(json.replaceAll('"#/$defs/', '"#/components/schemas/'))
  return { schema: rest, components: { schemas } }
}

/** Adds the examples of named schemas: zod leaves them out where a schema transforms its value. */
function withExamples({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Json }): void {
  const { id, examples } = z.globalRegistry.get(zodSchema) ?? {}
  if (id !== undefined && examples !== undefined) jsonSchema.examples = examples
}
