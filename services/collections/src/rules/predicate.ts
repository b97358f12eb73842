import type { AnySql } from '@backoffice/postgres/database.ts'
import type { RuleProduct } from './rule-product.ts'

export type Fragment = ReturnType<typeof emptyFragment>
const emptyFragment = (sql: AnySql) => sql``

/** A test of a product, as a function and as SQL. Both have the same result for every product. */
export interface Predicate {
  matches(product: RuleProduct): boolean
  /** A boolean expression on the columns of `product`. It is never null and needs no parentheses before `and`. */
  toSql(sql: AnySql): Fragment
}

/** The operators of a field, each a function from its value to a predicate. The others are negations of these. */
export interface OperatorDefinitions<Value> {
  eq(value: Value): Predicate
  in?(values: Value[]): Predicate
  contains?(value: Value): Predicate
  starts_with?(value: Value): Predicate
  ends_with?(value: Value): Predicate
  gt?(value: Value): Predicate
  gte?(value: Value): Predicate
  lt?(value: Value): Predicate
  lte?(value: Value): Predicate
  is_set?(): Predicate
}

/** Holds for every product, such as `is_set` on a field that every product has. */
export const always: Predicate = { matches: () => true, toSql: (sql) => sql`true` }

export const not = ({ matches, toSql }: Predicate): Predicate => ({
  matches: (product) => !matches(product),
  toSql: (sql) => sql`not (${toSql(sql)})`,
})

/** Holds if all predicates hold. There has to be at least one. */
export const allOf = (predicates: readonly Predicate[]): Predicate => {
  const tests = predicates.map(({ matches }) => matches)
  return {
    matches: (product) => tests.every((test) => test(product)),
    toSql: (sql) => sql`(${predicates.map(({ toSql }) => toSql(sql)).reduce((all, next) => sql`${all} and ${next}`)})`,
  }
}

/** Holds if any predicate holds. There has to be at least one. */
export const anyOf = (predicates: readonly Predicate[]): Predicate => {
  const tests = predicates.map(({ matches }) => matches)
  return {
    matches: (product) => tests.some((test) => test(product)),
    toSql: (sql) => sql`(${predicates.map(({ toSql }) => toSql(sql)).reduce((all, next) => sql`${all} or ${next}`)})`,
  }
}

/** PostgreSQL hashes the subquery once, also in a generic plan. `is true` keeps it from becoming a join. */
export const isAmong = (sql: AnySql, value: Fragment, list: Fragment): Fragment =>
  sql`(${value} in (select unnest(${list}))) is true`
