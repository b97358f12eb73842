import { always, type Definitions, isAmong, type Predicate } from './predicate.ts'

// Values are folded, as the columns are, so that bytes are compared. No value is a pattern: position, not like.

/** The product's name. */
export const nameDefinitions: Definitions<string> = {
  eq: (text) => ({
    matches: ({ name }) => name === text,
    condition: (sql) => sql`product.name = ${text}`,
  }),
  in: (texts) => {
    const wanted = new Set(texts)
    return {
      matches: ({ name }) => wanted.has(name),
      condition: (sql) => isAmong(sql, sql`product.name`, sql`${texts}::text[]`),
    }
  },
  contains: (text) => ({
    matches: ({ name }) => name.includes(text),
    condition: (sql) => sql`strpos(product.name, ${text}) > 0`,
  }),
  starts_with: (text) => ({
    matches: ({ name }) => name.startsWith(text),
    condition: (sql) => sql`starts_with(product.name, ${text})`,
  }),
  ends_with: (text) => ({
    matches: ({ name }) => name.endsWith(text),
    condition: (sql) => sql`right(product.name, ${characters(text)}) = ${text}`,
  }),
  is_set: () => always,
}

/** As PostgreSQL counts them. */
const characters = (text: string): number => Array.from(text).length

/** The SKUs of all variants, each between line breaks, which no folded value has. */
export const skuDefinitions: Definitions<string> = {
  eq: (text) => hasPart(`\n${text}\n`),
  in: (texts) => {
    const wanted = new Set(texts)
    return {
      matches: ({ skus }) => skus.split('\n').some((sku) => wanted.has(sku)),
      condition: (sql) => sql`exists (
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
  condition: (sql) => sql`strpos(product.skus, ${part}) > 0`,
})
