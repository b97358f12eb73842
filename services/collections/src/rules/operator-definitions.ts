import type { AnySql } from '@backoffice/postgres/database.ts'
import { amountsOf, hasPart, overlap, skusOf, textsOf } from './lookups.ts'
import { always, isAmong, not, type OperatorDefinitions, type Predicate } from './predicate.ts'
import type { RuleProduct } from './rule-product.ts'

// Values and columns are folded, so comparisons are byte by byte. `strpos`, not `like`: a value is text, not a pattern.

/** The columns that are never null, with their PostgreSQL types. */
const TYPES = {
  name: 'text',
  type: 'text',
  status: 'text',
  stock: 'int8',
  requires_shipping: 'bool',
  can_preorder: 'bool',
  created_at: 'timestamptz',
} as const

type Column = keyof typeof TYPES

const columnOf = (sql: AnySql, column: Column) => sql`product.${sql(column)}`

/** A column that is compared for equality only. */
export const plainDefinitions = <Name extends Column>(
  column: Name,
): Required<Pick<OperatorDefinitions<RuleProduct[Name]>, 'eq' | 'in'>> => ({
  eq: (value) => ({
    matches: (product) => product[column] === value,
    toSql: (sql) => sql`${columnOf(sql, column)} = ${value}`,
  }),
  in: (values) => ({
    matches: (product) => values.has(product[column]),
    toSql: (sql) => isAmong(sql, columnOf(sql, column), sql`${[...values]}::${sql(TYPES[column] as string)}[]`),
  }),
})

/** A column with an order. */
export function orderedDefinitions<Name extends 'stock' | 'created_at'>(
  column: Name,
): OperatorDefinitions<RuleProduct[Name]> {
  const gt = (value: RuleProduct[Name]): Predicate => ({
    matches: (product) => product[column] > value,
    toSql: (sql) => sql`${columnOf(sql, column)} > ${value}`,
  })
  const gte = (value: RuleProduct[Name]): Predicate => ({
    matches: (product) => product[column] >= value,
    toSql: (sql) => sql`${columnOf(sql, column)} >= ${value}`,
  })
  return {
    ...plainDefinitions(column),
    gt,
    gte,
    lt: (value) => not(gte(value)),
    lte: (value) => not(gt(value)),
    is_set: () => always,
  }
}

/** An array column of a product. */
export const listDefinitions = (column: 'categories' | 'tags'): OperatorDefinitions<string> => ({
  eq: (value) => ({
    matches: (product) => textsOf(product[column]).has(value),
    toSql: (sql) => sql`${value} = any(product.${sql(column)})`,
  }),
  in: (values) => ({
    matches: (product) => overlap(values, textsOf(product[column])),
    toSql: (sql) => sql`exists (
      select from unnest(product.${sql(column)}) as listed where ${isAmong(sql, sql`listed`, sql`${[...values]}::text[]`)}
    )`,
  }),
  is_set: () => ({
    matches: (product) => product[column].length > 0,
    toSql: (sql) => sql`product.${sql(column)} <> '{}'`,
  }),
})

/** The product's name. */
export const nameDefinitions: OperatorDefinitions<string> = {
  ...plainDefinitions('name'),
  contains: (text) => ({
    matches: ({ name }) => name.includes(text),
    toSql: (sql) => sql`strpos(product.name, ${text}) > 0`,
  }),
  starts_with: (text) => ({
    matches: ({ name }) => name.startsWith(text),
    toSql: (sql) => sql`starts_with(product.name, ${text})`,
  }),
  ends_with: (text) => ({
    matches: ({ name }) => name.endsWith(text),
    toSql: (sql) => sql`right(product.name, ${characters(text)}) = ${text}`,
  }),
  is_set: () => always,
}

/** The number of code points, as PostgreSQL counts characters. */
const characters = (text: string): number => Array.from(text).length

/** The SKUs of all variants, each between line breaks. Folded values contain no line breaks. */
export const skuDefinitions: OperatorDefinitions<string> = {
  eq: (text) => ({
    ...withPart(`\n${text}\n`),
    matches: (product) => skusOf(product).has(text),
  }),
  in: (texts) => ({
    matches: (product) => overlap(texts, skusOf(product)),
    toSql: (sql) => sql`exists (
      select from string_to_table(product.skus, E'\n') as sku where ${isAmong(sql, sql`sku`, sql`${[...texts]}::text[]`)}
    )`,
  }),
  contains: (text) => withPart(text),
  starts_with: (text) => withPart(`\n${text}`),
  ends_with: (text) => withPart(`${text}\n`),
  is_set: () => withPart('\n'),
}

const withPart = (part: string): Predicate => ({
  matches: (product) => hasPart(product, part),
  toSql: (sql) => sql`strpos(product.skus, ${part}) > 0`,
})

const NO_AMOUNTS: readonly number[] = []

/** The amounts of all variants in a currency: a condition holds if it holds for one. None holds without amounts. */
export const amountDefinitions = (column: 'prices' | 'costs', currency: string): OperatorDefinitions<number> => {
  const amountsIn = (product: RuleProduct) => amountsOf(product[column][currency] ?? NO_AMOUNTS)
  const lowest = (product: RuleProduct) => product[column][currency]?.[0] ?? Number.POSITIVE_INFINITY
  const highest = (product: RuleProduct) => product[column][currency]?.at(-1) ?? Number.NEGATIVE_INFINITY
  const amounts = (sql: AnySql) => sql`(product.${sql(column)} -> ${currency}::text)`
  return {
    eq: (value) => ({
      matches: (product) => amountsIn(product).has(value),
      toSql: (sql) => sql`product.${sql(column)} @> ${sql.json({ [currency]: [value] })}`,
    }),
    in: (values) => ({
      matches: (product) => overlap(values, amountsIn(product)),
      toSql: (sql) => sql`exists (
        select from jsonb_array_elements(${amounts(sql)}) as amount
        where ${isAmong(sql, sql`amount::bigint`, sql`${[...values]}::bigint[]`)}
      )`,
    }),
    gt: (value) => ({
      matches: (product) => highest(product) > value,
      toSql: (sql) => sql`coalesce((${amounts(sql)} -> -1)::bigint > ${value}, false)`,
    }),
    gte: (value) => ({
      matches: (product) => highest(product) >= value,
      toSql: (sql) => sql`coalesce((${amounts(sql)} -> -1)::bigint >= ${value}, false)`,
    }),
    lt: (value) => ({
      matches: (product) => lowest(product) < value,
      toSql: (sql) => sql`coalesce((${amounts(sql)} -> 0)::bigint < ${value}, false)`,
    }),
    lte: (value) => ({
      matches: (product) => lowest(product) <= value,
      toSql: (sql) => sql`coalesce((${amounts(sql)} -> 0)::bigint <= ${value}, false)`,
    }),
    is_set: () => ({
      matches: (product) => product[column][currency] !== undefined,
      toSql: (sql) => sql`product.${sql(column)} ? ${currency}`,
    }),
  }
}
