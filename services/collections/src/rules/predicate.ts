import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import type { RuleProduct } from './rule-product.ts'

/** A test of a product, as a function and as SQL. Both have the same result for every product. */
export interface Predicate {
  matches(product: RuleProduct): boolean
  /** A boolean expression on the columns of `product`. It is never null and needs no parentheses before `and`. */
  toSql(sql: AnySql): SqlPart
}

type Define<Value> = (value: Value) => Predicate

/** The operators of a field, each a function from its value to a predicate. The others are negations of these. */
export interface OperatorDefinitions<Value>
  extends Partial<Record<'contains' | 'starts_with' | 'ends_with' | 'gt' | 'gte' | 'lt' | 'lte', Define<Value>>> {
  readonly eq: Define<Value>
  readonly in?: Define<ReadonlySet<Value>>
  readonly is_set?: () => Predicate
}

/** Holds for every product, such as `is_set` on a field that every product has. */
export const always: Predicate = { matches: () => true, toSql: (sql) => sql`true` }

export const not = ({ matches, toSql }: Predicate): Predicate => ({
  matches: (product) => !matches(product),
  toSql: (sql) => sql`not (${toSql(sql)})`,
})

/** Holds if all predicates hold. There has to be at least one. */
export const allOf = (predicates: readonly Predicate[]): Predicate => ({
  matches: (product) => predicates.every(({ matches }) => matches(product)),
  toSql: (sql) => sql`(${sqlOf(sql, predicates).reduce((all, next) => sql`${all} and ${next}`)})`,
})

/** Holds if any predicate holds. There has to be at least one. */
export const anyOf = (predicates: readonly Predicate[]): Predicate => ({
  matches: (product) => predicates.some(({ matches }) => matches(product)),
  toSql: (sql) => sql`(${sqlOf(sql, predicates).reduce((all, next) => sql`${all} or ${next}`)})`,
})

const sqlOf = (sql: AnySql, predicates: readonly Predicate[]) => predicates.map(({ toSql }) => toSql(sql))

/** PostgreSQL hashes the subquery once, also in a generic plan. `is true` keeps it from becoming a join. */
export const isAmong = (sql: AnySql, value: SqlPart, list: SqlPart): SqlPart =>
  sql`(${value} in (select unnest(${list}))) is true`
