import { type Definitions, isAmong } from './predicate.ts'

/** A column that lists what a product belongs to. */
export const listDefinitions = (column: 'categories' | 'tags'): Definitions<string> => ({
  eq: (value) => ({
    matches: (product) => product[column].includes(value),
    condition: (sql) => sql`${value} = any(product.${sql(column)})`,
  }),
  in: (values) => {
    const wanted = new Set(values)
    return {
      matches: (product) => product[column].some((value) => wanted.has(value)),
      condition: (sql) => sql`exists (
        select from unnest(product.${sql(column)}) as listed where ${isAmong(sql, sql`listed`, sql`${values}::text[]`)}
      )`,
    }
  },
  is_set: () => ({
    matches: (product) => product[column].length > 0,
    condition: (sql) => sql`product.${sql(column)} <> '{}'`,
  }),
})
