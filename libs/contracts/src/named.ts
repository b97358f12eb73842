import { z } from 'zod'

/**
 * Names a schema: the OpenAPI document has it once, with the example. A schema made from it (`.extend`, `.partial`, its
 * shape) has no name until it gets its own. The name is part of the API: generated clients call their types by it.
 */
export const named = <Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  example?: NoInfer<z.input<Schema>>,
): Schema => schema.meta({ id: name, ...(example !== undefined && { examples: [example] }) })

/** Names an object that has no other members. */
export const namedObject = <Shape extends z.ZodRawShape>(
  name: string,
  shape: Shape,
  example?: NoInfer<z.input<z.ZodObject<Shape>>>,
) => named(name, z.strictObject(shape), example)

/** The example of a named schema. */
export const exampleOf = <Schema extends z.ZodType>(schema: Schema): z.input<Schema> | undefined =>
  (z.globalRegistry.get(schema)?.examples as z.input<Schema>[] | undefined)?.[0]

const SHOWN = new WeakMap<object, z.ZodType>()

/** Accepts any value, and the OpenAPI document shows it as this schema: for values that are validated one by one. */
export function anyShownAs(shown: z.ZodType): z.ZodType {
  const any = z.unknown()
  SHOWN.set(any, shown)
  return any
}

/** What the OpenAPI document shows instead of the schema, if anything. */
export const shownInstead = (schema: object): z.ZodType | undefined => SHOWN.get(schema)
