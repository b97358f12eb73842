import type { AnySql } from '@backoffice/postgres/database.ts'
import { isAmong, type OperatorDefinitions } from './predicate.ts'
import type { RuleProduct } from './rule-product.ts'

/** The amounts of all variants in a currency: a condition holds if it holds for one. None holds without amounts. */
export const amountDefinitions = (column: 'prices' | 'costs', currency: string): OperatorDefinitions<number> => {
  const lowest = (product: RuleProduct) => product[column][currency]?.[0] ?? Number.POSITIVE_INFINITY
  const highest = (product: RuleProduct) => product[column][currency]?.at(-1) ?? Number.NEGATIVE_INFINITY
  const amounts = (sql: AnySql) => sql`(product.${sql(column)} -> ${currency}::text)`
  return {
    eq: (value) => ({
      matches: (product) => product[column][currency]?.includes(value) ?? false,
      toSql: (sql) => sql`product.${sql(column)} @> ${sql.json({ [currency]: [value] })}`,
    }),
    in: (values) => {
      const wanted = new Set(values)
      return {
        matches: (product) => product[column][currency]?.some((amount) => wanted.has(amount)) ?? false,
        toSql: (sql) => sql`exists (
          select from jsonb_array_elements(${amounts(sql)}) as amount where ${isAmong(sql, sql`amount::bigint`, sql`${values}::bigint[]`)}
        )`,
      }
    },
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
