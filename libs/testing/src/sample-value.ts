import { randomUUID } from 'node:crypto'
import { z } from 'zod'

/** A value that a member's schema accepts; another `n` gives another value. Throws for a schema that no member has. */
export function sampleValue(schema: z.ZodType, n: number): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return sampleValue(schema.unwrap() as z.ZodType, n)
  if (schema instanceof z.ZodEnum) return schema.options[n % schema.options.length]
  if (schema instanceof z.ZodBoolean) return n % 4 < 2
  if (schema instanceof z.ZodNumber) return 10 + n
  if (schema instanceof z.ZodISODateTime) return `203${n % 10}-06-01T12:00:00.000Z`
  if (schema instanceof z.ZodISODate) return `203${n % 10}-06-01`
  if (schema instanceof z.ZodGUID) return randomUUID()
  if (schema instanceof z.ZodEmail) return `${randomUUID()}@example.com`
  if (schema instanceof z.ZodArray) return [sampleValue(schema.element as z.ZodType, n)]
  if (schema instanceof z.ZodRecord) return { EUR: 100 + n }
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return `${randomUUID().slice(0, 8)}-${n}`
  throw new Error(`no sample for a schema of the type ${schema.type}`)
}
