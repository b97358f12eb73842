import type { AnySql } from '@backoffice/postgres/database.ts'
import { always, isAmong, type OperatorDefinitions } from './predicate.ts'
import type { RuleProduct } from './rule-product.ts'

/** The columns that are never null, with their PostgreSQL types. */
const TYPES = { type: 'text', status: 'text', stock: 'int8', created_at: 'timestamptz' } as const

type Column = keyof typeof TYPES

const columnOf = (sql: AnySql, column: Column) => sql`product.${sql(column)}`

const typeOf = (sql: AnySql, column: Column) => sql`${sql(TYPES[column])}`

/** A boolean column. */
export const flagDefinitions = (column: 'requires_shipping' | 'can_preorder'): OperatorDefinitions<boolean> => ({
  eq: (value) => ({
    matches: (product) => product[column] === value,
    toSql: (sql) => sql`product.${sql(column)} = ${value}`,
  }),
})

/** A column that is compared for equality only. */
export const plainDefinitions = <Name extends Column>(column: Name): OperatorDefinitions<RuleProduct[Name]> => ({
  eq: (value) => ({
    matches: (product) => product[column] === value,
    toSql: (sql) => sql`${columnOf(sql, column)} = ${value}`,
  }),
  in: (values) => {
    const wanted = new Set(values)
    return {
      matches: (product) => wanted.has(product[column]),
      toSql: (sql) => isAmong(sql, columnOf(sql, column), sql`${values}::${typeOf(sql, column)}[]`),
    }
  },
})

/** A column with an order. */
export const orderedDefinitions = <Name extends Column>(column: Name): OperatorDefinitions<RuleProduct[Name]> => ({
  ...plainDefinitions(column),
  gt: (value) => ({
    matches: (product) => product[column] > value,
    toSql: (sql) => sql`${columnOf(sql, column)} > ${value}`,
  }),
  gte: (value) => ({
    matches: (product) => product[column] >= value,
    toSql: (sql) => sql`${columnOf(sql, column)} >= ${value}`,
  }),
  lt: (value) => ({
    matches: (product) => product[column] < value,
    toSql: (sql) => sql`${columnOf(sql, column)} < ${value}`,
  }),
  lte: (value) => ({
    matches: (product) => product[column] <= value,
    toSql: (sql) => sql`${columnOf(sql, column)} <= ${value}`,
  }),
  is_set: () => always,
})

/** An array column of a product. */
export const listDefinitions = (column: 'categories' | 'tags'): OperatorDefinitions<string> => ({
  eq: (value) => ({
    matches: (product) => product[column].includes(value),
    toSql: (sql) => sql`${value} = any(product.${sql(column)})`,
  }),
  in: (values) => {
    const wanted = new Set(values)
    return {
      matches: (product) => product[column].some((value) => wanted.has(value)),
      toSql: (sql) => sql`exists (
        select from unnest(product.${sql(column)}) as listed where ${isAmong(sql, sql`listed`, sql`${values}::text[]`)}
      )`,
    }
  },
  is_set: () => ({
    matches: (product) => product[column].length > 0,
    toSql: (sql) => sql`product.${sql(column)} <> '{}'`,
  }),
})
