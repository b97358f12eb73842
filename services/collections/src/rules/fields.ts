import { TimestampInput } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { PRODUCT_STATUSES, PRODUCT_TYPES } from '@backoffice/contracts/product.ts'
import { z } from 'zod'
import { fold } from './fold.ts'
import {
  amountDefinitions,
  listDefinitions,
  nameDefinitions,
  orderedDefinitions,
  plainDefinitions,
  skuDefinitions,
} from './operator-definitions.ts'
import { anyOf, not, type OperatorDefinitions, type Predicate } from './predicate.ts'

/** An operator of a field: the schema of its value, and its predicate, which throws for an invalid value. */
interface Operator {
  readonly value: z.ZodType
  predicate(value: unknown): Predicate
}

type Field = ReadonlyMap<string, Operator>

const Text = z.string().min(1).max(LIMITS.nameLength).transform(fold)

/** In UTC and milliseconds, as the projection stores times. */
const Time = TimestampInput.transform((text) => new Date(text).toISOString())

const integer = (description: string) =>
  z.int({
    error: ({ code, input }) =>
      code === 'invalid_type' ? `must be ${description}${input === undefined ? ' (it is missing)' : ''}` : undefined,
  })

const Quantity = integer('an integer')
const Amount = integer('an integer in minor units')
const NoValue = z.null({ error: 'must be left out' }).optional()

const operator = <Value>(value: z.ZodType<Value>, define: (value: Value) => Predicate): Operator => ({
  value,
  predicate: (sent) => define(value.parse(sent)),
})

/** Operators and their exact negations: `ne` is true where `eq` is false, also for a value that is not set (OP-110). */
const NEGATIONS: Readonly<Record<string, string>> = {
  eq: 'ne',
  contains: 'not_contains',
  in: 'not_in',
  is_set: 'is_not_set',
}

/** Up to this length of a list, single comparisons are faster in PostgreSQL than a hashed list. */
const UNHASHED_VALUES = 8

const listOf = <Value>(value: z.ZodType<Value>) => z.array(value).min(1).max(LIMITS.idsPerCall)

function fieldOf<Value>(
  value: z.ZodType<Value>,
  definitions: OperatorDefinitions<Value>,
  list: z.ZodType<Value[]> = listOf(value),
): Field {
  const { in: isIn, is_set: isSet, ...others } = definitions
  const operators = Object.entries(others).map(([name, define]): [string, Operator] => [name, operator(value, define)])
  if (isIn) {
    const isOneOf = (values: Value[]) =>
      values.length > UNHASHED_VALUES ? isIn(new Set(values)) : anyOf(values.map((value) => definitions.eq(value)))
    operators.push(['in', operator(list, isOneOf)])
  }
  if (isSet) operators.push(['is_set', operator(NoValue, isSet)])
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
  ['requires_shipping', fieldOf(z.boolean(), { eq: plainDefinitions('requires_shipping').eq })],
  ['can_preorder', fieldOf(z.boolean(), { eq: plainDefinitions('can_preorder').eq })],
  ['created_at', fieldOf(Time, orderedDefinitions('created_at'))],
])

/** Made once: a schema takes longer to make than to read a thousand values. */
const Amounts = listOf(Amount)

const MONEY = { price: 'prices', cost: 'costs' } as const

/** The field with this name (OP-30), such as `stock` or `price.EUR`; undefined if there is none. */
export function findField(name: string): Field | undefined {
  const [, money, currency] = /^(price|cost)\.([A-Z]{3})$/.exec(name) ?? []
  if (money === undefined || currency === undefined) return FIELDS.get(name)
  return fieldOf(Amount, amountDefinitions(MONEY[money as keyof typeof MONEY], currency), Amounts)
}

/** The field names, for messages and the API's documentation. */
export const FIELD_NAMES = [...FIELDS.keys(), 'price.<CUR>', 'cost.<CUR>'].join(', ')

/** The operators of a field, for messages. */
export const operatorNames = (field: Field): string => [...field.keys()].join(', ')

const AMOUNT_FIELD = fieldOf(Amount, amountDefinitions('prices', 'EUR'))

/** The operators of all fields, grouped by equal lists, for the API's documentation. */
export const OPERATORS_OF_FIELDS = [
  ...Map.groupBy([...FIELDS, ['price.<CUR>, cost.<CUR>', AMOUNT_FIELD] as const], ([, field]) => operatorNames(field)),
]
  .map(([operators, fields]) => `${fields.map(([name]) => name).join(', ')} take ${operators}`)
  .join('; ')
