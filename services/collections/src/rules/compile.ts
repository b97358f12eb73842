import { findField } from './fields.ts'
import { allOf, anyOf, type Predicate } from './predicate.ts'
import type { RuleProduct } from './rule-product.ts'
import type { Condition, Rules } from './rules.ts'

/** Rules as one predicate: `matches` tests a product in memory, `toSql` selects products in the database. */
export interface CompiledRules extends Predicate {
  /** The result of each condition, in their order. */
  explain(product: RuleProduct): boolean[]
}

/** Compiles rules from `readRules`. Throws an Error for an unknown field or operator. */
export function compileRules({ match, conditions }: Rules): CompiledRules {
  const predicates = conditions.map(predicateOf)
  return {
    ...(match === 'all' ? allOf(predicates) : anyOf(predicates)),
    explain: (product) => predicates.map(({ matches }) => matches(product)),
  }
}

function predicateOf({ field, operator, value }: Condition): Predicate {
  const definition = findField(field)?.get(operator)
  if (definition === undefined) throw new Error(`unknown rule: ${field} ${operator}`)
  return definition.predicate(value)
}
