import type { AnySql } from '@backoffice/postgres/database.ts'
import { type Definitions, isAmong } from './predicate.ts'
import type { RuleProduct } from './rule-product.ts'

/**
 * The variants' amounts in one currency, of which a condition needs one: whether any is above a bound the highest tells,
 * whether any is below it the lowest. Of a product that has none in the currency no comparison holds.
 */
export const amountDefinitions = (column: 'prices' | 'costs', currency: string): Definitions<number> => {
  const lowest = (product: RuleProduct) => product[column][currency]?.[0] ?? Number.POSITIVE_INFINITY
  const highest = (product: RuleProduct) => product[column][currency]?.at(-1) ?? Number.NEGATIVE_INFINITY
  const amounts = (sql: AnySql) => sql`(product.${sql(column)} -> ${currency}::text)`
  return {
    eq: (value) => ({
      matches: (product) => product[column][currency]?.includes(value) ?? false,
      condition: (sql) => sql`product.${sql(column)} @> ${sql.json({ [currency]: [value] })}`,
    }),
    in: (values) => {
      const wanted = new Set(values)
      return {
        matches: (product) => product[column][currency]?.some((amount) => wanted.has(amount)) ?? false,
        condition: (sql) => sql`exists (
          select from jsonb_array_elements(${amounts(sql)}) as amount where ${isAmong(sql, sql`amount::bigint`, sql`${values}::bigint[]`)}
        )`,
      }
    },
    gt: (value) => ({
      matches: (product) => highest(product) > value,
      condition: (sql) => sql`coalesce((${amounts(sql)} -> -1)::bigint > ${value}, false)`,
    }),
    gte: (value) => ({
      matches: (product) => highest(product) >= value,
      condition: (sql) => sql`coalesce((${amounts(sql)} -> -1)::bigint >= ${value}, false)`,
    }),
    lt: (value) => ({
      matches: (product) => lowest(product) < value,
      condition: (sql) => sql`coalesce((${amounts(sql)} -> 0)::bigint < ${value}, false)`,
    }),
    lte: (value) => ({
      matches: (product) => lowest(product) <= value,
      condition: (sql) => sql`coalesce((${amounts(sql)} -> 0)::bigint <= ${value}, false)`,
    }),
    is_set: () => ({
      matches: (product) => product[column][currency] !== undefined,
      condition: (sql) => sql`product.${sql(column)} ? ${currency}`,
    }),
  }
}
