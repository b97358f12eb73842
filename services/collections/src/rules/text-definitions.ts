import { always, isAmong, type OperatorDefinitions, type Predicate } from './predicate.ts'

// Values and columns are folded, so comparisons are byte by byte. `strpos`, not `like`: a value is text, not a pattern.

/** The product's name. */
export const nameDefinitions: OperatorDefinitions<string> = {
  eq: (text) => ({
    matches: ({ name }) => name === text,
    toSql: (sql) => sql`product.name = ${text}`,
  }),
  in: (texts) => {
    const wanted = new Set(texts)
    return {
      matches: ({ name }) => wanted.has(name),
      toSql: (sql) => isAmong(sql, sql`product.name`, sql`${texts}::text[]`),
    }
  },
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
  eq: (text) => hasPart(`\n${text}\n`),
  in: (texts) => {
    const wanted = new Set(texts)
    return {
      matches: ({ skus }) => skus.split('\n').some((sku) => wanted.has(sku)),
      toSql: (sql) => sql`exists (
        select from string_to_table(product.skus, E'\n') as sku where ${isAmong(sql, sql`sku`, sql`${texts}::text[]`)}
      )`,
    }
  },
  contains: (text) => hasPart(text),
  starts_with: (text) => hasPart(`\n${text}`),
  ends_with: (text) => hasPart(`${text}\n`),
  is_set: () => hasPart('\n'),
}

const hasPart = (part: string): Predicate => ({
  matches: ({ skus }) => skus.includes(part),
  toSql: (sql) => sql`strpos(product.skus, ${part}) > 0`,
})
