import { TimestampInput } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { PRODUCT_STATUSES, PRODUCT_TYPES } from '@backoffice/contracts/product.ts'
import { z } from 'zod'
import { amountDefinitions } from './amount-definitions.ts'
import { flagDefinitions, orderedDefinitions, plainDefinitions } from './column-definitions.ts'
import { fold } from './fold.ts'
import { listDefinitions } from './list-definitions.ts'
import { anyOf, type Definitions, not, type Predicate } from './predicate.ts'
import { nameDefinitions, skuDefinitions } from './text-definitions.ts'

/** An operator of a field: what its value has to be, and what the two come to. `predicate` throws for any other value. */
interface Operator {
  readonly value: z.ZodType
  predicate(value: unknown): Predicate
}

/** A field's operators, by their names. */
type Field = ReadonlyMap<string, Operator>

const Text = z.string().min(1).max(LIMITS.nameLength).transform(fold)

/** As the projection keeps times: in UTC and milliseconds. */
const Time = TimestampInput.transform((text) => new Date(text).toISOString())

const integer = (what: string) =>
  z.int({
    error: ({ code, input }) =>
      code === 'invalid_type' ? `must be ${what}${input === undefined ? ' (it is missing)' : ''}` : undefined,
  })

const Quantity = integer('an integer')
const Amount = integer('an integer in minor units')
const Nothing = z.null({ error: 'must be left out' }).optional()

const operator = <Value>(value: z.ZodType<Value>, define: (value: Value) => Predicate): Operator => ({
  value,
  predicate: (sent) => define(value.parse(sent)),
})

/** Each is the exact negation of the other: where a value is unset too, `ne` is true because `eq` is false (OP-110). */
const NEGATIONS: Readonly<Record<string, string>> = {
  eq: 'ne',
  contains: 'not_contains',
  in: 'not_in',
  is_set: 'is_not_set',
}

/** A list of up to so many values costs the database less as that many comparisons than as one with a hashed list. */
const FEW = 8

function fieldOf<Value>(value: z.ZodType<Value>, definitions: Definitions<Value>): Field {
  const { in: isIn, is_set: isSet, ...others } = definitions
  const operators = Object.entries(others).map(([name, define]): [string, Operator] => [name, operator(value, define)])
  if (isIn) {
    const isOneOf = (values: Value[]) =>
      values.length > FEW ? isIn(values) : anyOf(values.map((value) => definitions.eq(value)))
    operators.push(['in', operator(z.array(value).min(1).max(LIMITS.idsPerCall), isOneOf)])
  }
  if (isSet) operators.push(['is_set', operator(Nothing, isSet)])
  return new Map(
    operators.flatMap(([name, { value, predicate }]) => {
      const negation = NEGATIONS[name]
      const negated = { value, predicate: (sent: unknown) => not(predicate(sent)) }
      return [[name, { value, predicate }] as const, ...(negation ? [[negation, negated] as const] : [])]
    }),
  )
}

const FIELDS = new Map<string, Field>([
  ['name', fieldOf(Text, nameDefinitions)],
  ['sku', fieldOf(Text, skuDefinitions)],
  ['type', fieldOf(z.enum(PRODUCT_TYPES), plainDefinitions('type'))],
  ['status', fieldOf(z.enum(PRODUCT_STATUSES), plainDefinitions('status'))],
  ['category', fieldOf(Text, listDefinitions('categories'))],
  ['tag', fieldOf(Text, listDefinitions('tags'))],
  ['stock', fieldOf(Quantity, orderedDefinitions('stock'))],
  ['requires_shipping', fieldOf(z.boolean(), flagDefinitions('requires_shipping'))],
  ['can_preorder', fieldOf(z.boolean(), flagDefinitions('can_preorder'))],
  ['created_at', fieldOf(Time, orderedDefinitions('created_at'))],
])

const MONEY = { price: 'prices', cost: 'costs' } as const

/** The field that a condition names (OP-30), such as `stock` or `price.EUR`; undefined when there is none. */
export function findField(name: string): Field | undefined {
  const [, money, currency] = /^(price|cost)\.([A-Z]{3})$/.exec(name) ?? []
  if (money === undefined || currency === undefined) return FIELDS.get(name)
  return fieldOf(Amount, amountDefinitions(MONEY[money as keyof typeof MONEY], currency))
}

/** How callers are told which fields there are. */
export const FIELD_NAMES = [...FIELDS.keys(), 'price.<CUR>', 'cost.<CUR>'].join(', ')

/** How callers are told which operators a field takes. */
export const operatorNames = (field: Field): string => [...field.keys()].join(', ')

const AMOUNT_FIELD = fieldOf(Amount, amountDefinitions('prices', 'EUR'))

/** How callers are told which operators fields take, those that take the same together. */
export const OPERATORS_OF_FIELDS = [
  ...Map.groupBy([...FIELDS, ['price.<CUR>, cost.<CUR>', AMOUNT_FIELD] as const], ([, field]) => operatorNames(field)),
]
  .map(([operators, fields]) => `${fields.map(([name]) => name).join(', ')} take ${operators}`)
  .join('; ')
