import type { AnySql } from '@backoffice/postgres/database.ts'
import type { RuleProduct } from './rule-product.ts'

/** Part of a statement. */
export type Fragment = ReturnType<typeof none>
const none = (sql: AnySql) => sql``

/** Something that a product meets or does not, told in memory and by the database. The two always agree. */
export interface Predicate {
  matches(product: RuleProduct): boolean
  /** A boolean expression on the columns of `product`, never null; `and` joins it to others as it is. */
  condition(sql: AnySql): Fragment
}

/** What the operators of one field come to for a value; the others are their negations. */
export interface Definitions<Value> {
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

/** Holds for every product: what all of them have is always set. */
export const always: Predicate = { matches: () => true, condition: (sql) => sql`true` }

export const not = ({ matches, condition }: Predicate): Predicate => ({
  matches: (product) => !matches(product),
  condition: (sql) => sql`not (${condition(sql)})`,
})

/** Whether all of some predicates hold, of which there is at least one. */
export const allOf = (predicates: readonly Predicate[]): Predicate => {
  const tests = predicates.map(({ matches }) => matches)
  return {
    matches: (product) => tests.every((holds) => holds(product)),
    condition: (sql) => sql`(${conditionsOf(sql, predicates).reduce((all, next) => sql`${all} and ${next}`)})`,
  }
}

/** Whether any of some predicates holds, of which there is at least one. */
export const anyOf = (predicates: readonly Predicate[]): Predicate => {
  const tests = predicates.map(({ matches }) => matches)
  return {
    matches: (product) => tests.some((holds) => holds(product)),
    condition: (sql) => sql`(${conditionsOf(sql, predicates).reduce((all, next) => sql`${all} or ${next}`)})`,
  }
}

const conditionsOf = (sql: AnySql, predicates: readonly Predicate[]): Fragment[] =>
  predicates.map(({ condition }) => condition(sql))

/**
 * Whether a value is one of a list, of any length. As a subquery whose values are hashed once, whatever the plan: `any(list)` of
 * a generic plan compares with one after the other. `is true` keeps it from becoming a join.
 */
export const isAmong = (sql: AnySql, value: Fragment, list: Fragment): Fragment =>
  sql`(${value} in (select unnest(${list}))) is true`
