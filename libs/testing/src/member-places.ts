import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Member } from '@backoffice/contracts/members.ts'
import { z } from 'zod'

type Values = Readonly<Record<string, unknown>>

interface Declared {
  readonly members: Readonly<Record<string, Member>>
}

/** Where a value has to be, as the places have it. A row is `to_jsonb(table)`; a place left out is not looked at. */
interface Places {
  readonly answer?: object | undefined
  /** The answer with what others do not show. */
  readonly settings?: object | undefined
  readonly row: object | undefined
  readonly event?: object | undefined
  readonly state?: object | undefined
}

/** Samples for the members with a column in this shape of requests or rows. */
export const sampleMembers = ({ members }: Declared, shape: Readonly<Record<string, z.ZodType>>, n: number): Values =>
  Object.fromEntries(
    Object.entries(shape)
      .filter(([name]) => members[name]?.sql !== undefined)
      .map(([name, schema]) => [name, sampleValue(schema, n)]),
  )

/** Each member that was sent and is not where its declaration says: `["cost: state"]`. */
export function missingMembers({ members }: Declared, sent: Values, { row, ...bodies }: Places): string[] {
  return Object.entries(sent).flatMap(([name, value]) => {
    const { column = name, shown } = members[name] ?? { shown: 'nobody' }
    const expected: [string, object | undefined, string][] = [['row', row, column]]
    for (const [place, body] of Object.entries(bodies)) {
      const isHere =
        place === 'settings' ? shown !== 'answer' : shown === 'answer' || (shown === 'state' && place === 'state')
      if (isHere) expected.push([place, body, name])
      else if (body !== undefined && name in body) return [`${name}: shown in the ${place}`]
    }
    return expected
      .filter(([, body, key]) => !isSame((body as Values | undefined)?.[key], value))
      .map(([place]) => `${name}: ${place}`)
  })
}

/** PostgreSQL writes times in JSON in a form of its own. */
const isSame = (found: unknown, sent: unknown): boolean =>
  isDeepStrictEqual(found, sent) || (isTime(sent) && new Date(String(found)).getTime() === new Date(sent).getTime())

const isTime = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)

/** A value that a member's schema accepts; another `n` gives another value. Throws for a schema that no member has. */
function sampleValue(schema: z.ZodType, n: number): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return sampleValue(schema.unwrap() as z.ZodType, n)
  if (schema instanceof z.ZodEnum) return schema.options[n % schema.options.length]
  if (schema instanceof z.ZodBoolean) return n % 4 < 2
  if (schema instanceof z.ZodNumber) return 10 + n
  if (schema instanceof z.ZodString && schema.format === 'datetime') return `203${n % 10}-06-01T12:00:00.000Z`
  if (schema instanceof z.ZodISODate) return `203${n % 10}-06-01`
  if (schema instanceof z.ZodGUID) return randomUUID()
  if (schema instanceof z.ZodStringFormat && schema.format === 'email') return `${randomUUID()}@example.com`
  if (schema instanceof z.ZodArray) return [sampleValue(schema.element as z.ZodType, n)]
  if (schema instanceof z.ZodRecord) return { EUR: 100 + n }
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return `${randomUUID().slice(0, 8)}-${n}`
  throw new Error(`no sample for a schema of the type ${schema.type}`)
}
