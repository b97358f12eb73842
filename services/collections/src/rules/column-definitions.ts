import type { AnySql } from '@backoffice/postgres/database.ts'
import { always, type Definitions, isAmong } from './predicate.ts'
import type { RuleProduct } from './rule-product.ts'

/** Columns that every product has a value in, and their types as PostgreSQL's catalogue names them. */
const TYPES = { type: 'text', status: 'text', stock: 'int8', created_at: 'timestamptz' } as const

type Column = keyof typeof TYPES

const columnOf = (sql: AnySql, column: Column) => sql`product.${sql(column)}`

const typeOf = (sql: AnySql, column: Column) => sql`${sql(TYPES[column])}`

/** A column that is true or false. */
export const flagDefinitions = (column: 'requires_shipping' | 'can_preorder'): Definitions<boolean> => ({
  eq: (value) => ({
    matches: (product) => product[column] === value,
    condition: (sql) => sql`product.${sql(column)} = ${value}`,
  }),
})

/** A column whose values are the same or not. */
export const plainDefinitions = <Name extends Column>(column: Name): Definitions<RuleProduct[Name]> => ({
  eq: (value) => ({
    matches: (product) => product[column] === value,
    condition: (sql) => sql`${columnOf(sql, column)} = ${value}`,
  }),
  in: (values) => {
    const wanted = new Set(values)
    return {
      matches: (product) => wanted.has(product[column]),
      condition: (sql) => isAmong(sql, columnOf(sql, column), sql`${values}::${typeOf(sql, column)}[]`),
    }
  },
})

/** A column whose values have an order. */
export const orderedDefinitions = <Name extends Column>(column: Name): Definitions<RuleProduct[Name]> => ({
  ...plainDefinitions(column),
  gt: (value) => ({
    matches: (product) => product[column] > value,
    condition: (sql) => sql`${columnOf(sql, column)} > ${value}`,
  }),
  gte: (value) => ({
    matches: (product) => product[column] >= value,
    condition: (sql) => sql`${columnOf(sql, column)} >= ${value}`,
  }),
  lt: (value) => ({
    matches: (product) => product[column] < value,
    condition: (sql) => sql`${columnOf(sql, column)} < ${value}`,
  }),
  lte: (value) => ({
    matches: (product) => product[column] <= value,
    condition: (sql) => sql`${columnOf(sql, column)} <= ${value}`,
  }),
  is_set: () => always,
})
