import { isAmong, type OperatorDefinitions } from './predicate.ts'

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
