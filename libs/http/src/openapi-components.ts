import { isDeepStrictEqual } from 'node:util'
import { descriptionOf } from '@backoffice/contracts/descriptions.ts'
import { shownInstead } from '@backoffice/contracts/named.ts'
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

/**
 * Describes a schema as clients send it or as answers have it. Named schemas become references to the components.
 * Generated clients know the size of each number, and read answers that have grown (OP-244). Each member says what it
 * means (OP-261); `places` say where those of a schema without a name stand. `example` is that of the whole.
 */
export function describeSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  ...places: readonly string[]
): { schema: Json; example?: unknown; components: Components } {
  const within: Components[] = []
  const override: Override = (described) => {
    const shown = shownInstead(described.zodSchema)
    if (shown) {
      const { schema, components } = describeSchema(shown, io)
      Object.assign(described.jsonSchema, schema)
      within.push(components)
      return
    }
    withExamples(described)
    withFormat(described.jsonSchema)
    withoutPattern(described.jsonSchema)
    if (io === 'output') withRoomToGrow(described.jsonSchema)
  }
  const json = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any', override }))
  const {
    $schema: _,
    $defs: schemas = {},
    ...rest
  } = JSON.parse(json.replaceAll('"#/$defs/', '"#/components/schemas/'))
  for (const [name, named] of Object.entries(schemas)) describeMembers(named, [name])
  describeMembers(rest, places)
  const { examples } = (schemas[nameOf(rest)] ?? rest) as { examples?: unknown[] }
  const components = mergeComponents([{ schemas }, ...within])
  return { schema: rest, ...(examples && { example: examples[0] }), components }
}

const nameOf = ({ $ref }: { $ref?: string }) => $ref?.split('/').at(-1) ?? ''

type Override = (described: { zodSchema: z.core.$ZodType; jsonSchema: Json }) => void

/** Adds the examples of named schemas: zod leaves them out where a schema transforms its value. */
const withExamples: Override = ({ zodSchema, jsonSchema }) => {
  const { id, examples } = z.globalRegistry.get(zodSchema) ?? {}
  if (id !== undefined && examples !== undefined) jsonSchema.examples = examples
}

const INT32 = 2 ** 31

/** Most generators read a number without a format into 32 bits. */
function withFormat(schema: Json): void {
  if (schema.type === 'number') schema.format = 'double'
  if (schema.type !== 'integer') return
  const { minimum = -Infinity, maximum = Infinity } = schema as { minimum?: number; maximum?: number }
  schema.format = minimum >= -INT32 && maximum < INT32 ? 'int32' : 'int64'
}

/** Some clients compile patterns, and Python knows no `\p`. What a format says needs none, nor does a number. */
function withoutPattern(schema: Json): void {
  if (schema.format !== undefined || (schema.pattern as string | undefined)?.includes('\\p')) delete schema.pattern
}

const KNOWN_VALUES = 'Known values:'

/**
 * Clients of today read the answers and events of tomorrow: members and values may come. Generators take an object that
 * says nothing for a closed one, and a value outside an enum for an error.
 */
function withRoomToGrow(schema: Json): void {
  if (schema.additionalProperties === false) schema.additionalProperties = true
  const { enum: values, description } = schema as { enum?: unknown[]; description?: string }
  if (values === undefined) return
  delete schema.enum
  schema['x-known-values'] = values
  schema.description = [description, `${KNOWN_VALUES} ${values.join(', ')}. Others may come.`]
    .filter(Boolean)
    .join('. ')
}

/** Adds to each member what it means, unless its declaration says it. */
function describeMembers(part: unknown, places: readonly string[]): void {
  if (typeof part !== 'object' || part === null) return
  const {
    properties = {},
    items,
    additionalProperties: values,
    anyOf = [],
  } = part as Record<string, Json> & {
    anyOf?: Json[]
  }
  for (const [name, member] of Object.entries(properties as Record<string, Json>)) {
    describeMembers(member, places)
    const said = member.description as string | undefined
    if (said !== undefined && !said.startsWith(KNOWN_VALUES)) continue
    const description = [descriptionOf(name, ...places), said].filter(Boolean).join(' ')
    if (description !== '') member.description = description
  }
  for (const inner of [items, values, ...anyOf]) describeMembers(inner, places)
}
