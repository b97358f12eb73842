import type { components } from '../api/client.ts'
import { decimalText, parseAmount } from '../parts/amounts.ts'
import { localOf } from '../parts/filters.tsx'
import { moneyText } from '../parts/text.tsx'
import { STATUSES, TYPES } from '../products/product.tsx'
import type { Collection } from './collection.tsx'

export type Rules = components['schemas']['Rules']
export type Condition = components['schemas']['RuleCondition']

/** What a field is compared with. */
export type Kind = 'text' | 'choice' | 'number' | 'money' | 'flag' | 'time'

interface RuleField {
  readonly title: string
  readonly kind: Kind
  readonly operators: readonly string[]
  readonly choices?: readonly (readonly [value: string, text: string])[]
}

const EQUAL = ['eq', 'ne']
const ONE_OF = ['in', 'not_in']
const SET = ['is_set', 'is_not_set']
/** Of these a space at an end says something: ` XL` is not in `XXL`. */
const PARTS = ['contains', 'not_contains', 'starts_with', 'ends_with']
const TEXTS = [...EQUAL, ...PARTS, ...ONE_OF, ...SET]
const ORDERED = [...EQUAL, 'gt', 'gte', 'lt', 'lte', ...ONE_OF, ...SET]

/** The fields of rules (OP-110); `price` and `cost` are of a currency: `price.EUR`. */
export const RULE_FIELDS: Readonly<Record<string, RuleField>> = {
  tag: { title: 'Tag', kind: 'text', operators: [...EQUAL, ...ONE_OF, ...SET] },
  category: { title: 'Category', kind: 'text', operators: [...EQUAL, ...ONE_OF, ...SET] },
  name: { title: 'Name', kind: 'text', operators: TEXTS },
  sku: { title: 'SKU', kind: 'text', operators: TEXTS },
  price: { title: 'Price', kind: 'money', operators: ORDERED },
  cost: { title: 'Cost', kind: 'money', operators: ORDERED },
  stock: { title: 'Stock', kind: 'number', operators: ORDERED },
  type: { title: 'Type', kind: 'choice', operators: [...EQUAL, ...ONE_OF], choices: TYPES },
  status: { title: 'Status', kind: 'choice', operators: [...EQUAL, ...ONE_OF], choices: STATUSES },
  created_at: { title: 'Added', kind: 'time', operators: ORDERED },
  requires_shipping: { title: 'Needs shipping', kind: 'flag', operators: EQUAL },
  can_preorder: { title: 'Can be pre-ordered', kind: 'flag', operators: EQUAL },
}
const NO_FIELD: RuleField = { title: '', kind: 'text', operators: TEXTS }

const WORDS: Readonly<Record<string, string>> = {
  eq: 'is',
  ne: 'is not',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  contains: 'contains',
  not_contains: 'does not contain',
  starts_with: 'starts with',
  ends_with: 'ends with',
  in: 'is one of',
  not_in: 'is none of',
  is_set: 'is set',
  is_not_set: 'is not set',
}
const TIME_WORDS: Readonly<Record<string, string>> = {
  gt: 'is after',
  gte: 'is from',
  lt: 'is before',
  lte: 'is up to',
}

/** Whether two states of a collection gather by the same rules, or both by hand with the same rules kept. */
export const haveSameRules = (one: Pick<Collection, 'membership_type' | 'rules'>, other: typeof one): boolean =>
  one.membership_type === other.membership_type && textOf(one.rules) === textOf(other.rules)

/** The members of what was typed and of what was read may be in another order. */
const textOf = (rules: Rules | null | undefined) =>
  rules && JSON.stringify([rules.match, rules.conditions.map(({ field, operator, value }) => [field, operator, value])])

/** A condition as it is typed: all its parts are texts. */
export interface Typed {
  readonly field: string
  /** Of a price or cost. */
  readonly currency: string
  readonly operator: string
  readonly value: string
}

export const NEW_CONDITION: Typed = { field: 'tag', currency: '', operator: 'eq', value: '' }

export const fieldOf = (name: string): RuleField => RULE_FIELDS[name] ?? { ...NO_FIELD, title: name }
export const takesValue = (operator: string): boolean => !SET.includes(operator)
export const takesList = (operator: string): boolean => ONE_OF.includes(operator)
export const operatorWords = (kind: Kind, operator: string): string =>
  (kind === 'time' && TIME_WORDS[operator]) || (WORDS[operator] ?? operator)

/** What is typed, with another operator: one that takes a single value keeps the first of a list. */
export function withOperator(typed: Typed, operator: string): Typed {
  if (takesList(operator) || !takesValue(operator)) return { ...typed, operator }
  return { ...typed, operator, value: typed.value.split('\n').find((line) => line.trim() !== '') ?? '' }
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

const namesOf = (name: string): readonly [field: string, currency: string] => {
  const [field = '', currency = ''] = name.split('.', 2)
  return [field, currency]
}

const valuesOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

/** A condition as the form shows it. */
export function typedOf({ field: name, operator, value }: Condition): Typed {
  const [field, currency] = namesOf(name)
  const { kind } = fieldOf(field)
  const texts = valuesOf(value).map((one) => (kind === 'money' ? decimalText(Number(one), currency) : String(one)))
  return { field, currency, operator, value: texts.join('\n') }
}

/** The condition that was typed. Throws for a value that is none of its kind. */
export function conditionOf({ field, currency, operator, value }: Typed): Condition {
  const { kind, title } = fieldOf(field)
  const name = kind === 'money' ? `${field}.${currency.trim().toUpperCase()}` : field
  if (!takesValue(operator)) return { field: name, operator }
  const texts = takesList(operator) ? linesOf(value) : [PARTS.includes(operator) ? value : value.trim()]
  const values = texts.map((text) => {
    const one = valueFrom(kind, text, currency.trim().toUpperCase())
    if (text.trim() === '' || one === undefined)
      throw new Error(`${title} ${operatorWords(kind, operator)}: "${text}" does not fit.`)
    return one
  })
  return { field: name, operator, value: takesList(operator) ? values : values[0] }
}

const HAS_ZONE = /Z$|[+-]\d\d:\d\d$/

/** The time of a condition as `datetime-local` has it. One that is being typed stays as it is. */
export const localTime = (value: string): string => (HAS_ZONE.test(value) ? localOf(value) : value)

function valueFrom(kind: Kind, text: string, currency: string): string | number | boolean | undefined {
  if (kind === 'money') return parseAmount(text, currency)
  if (kind === 'number') return /^-?\d+$/.test(text) ? Number(text) : undefined
  if (kind === 'flag') return text === 'true'
  if (kind !== 'time') return text
  if (Number.isNaN(Date.parse(text))) return undefined
  return HAS_ZONE.test(text) ? text : new Date(text).toISOString()
}

/** A condition in words: `Price in EUR is at least EUR 49.00`. */
export function conditionText({ field: name, operator, value }: Condition): string {
  const [field, currency] = namesOf(name)
  const { title, kind, choices } = fieldOf(field)
  const texts = valuesOf(value).map((one) => {
    if (kind === 'money') return moneyText(Number(one), currency)
    if (kind === 'time') return new Date(String(one)).toLocaleString()
    if (kind === 'flag') return one === true ? 'yes' : 'no'
    return choices?.find(([choice]) => choice === one)?.[1] ?? String(one)
  })
  return [currency ? `${title} in ${currency}` : title, operatorWords(kind, operator), texts.join(', ')]
    .join(' ')
    .trim()
}
