import { findField } from './fields.ts'
import { allOf, anyOf, type Predicate } from './predicate.ts'
import type { RuleProduct } from './rule-product.ts'
import type { Condition, Rules } from './rules.ts'

/** Rules made ready to be asked of many products, in memory (`matches`) or by the database (`condition`). */
export interface CompiledRules extends Predicate {
  /** Which of the conditions hold, in their order. */
  explain(product: RuleProduct): boolean[]
}

/** Compiles rules that `readRules` has accepted; throws for others. */
export function compileRules({ match, conditions }: Rules): CompiledRules {
  const predicates = conditions.map(predicateOf)
  return {
    ...(match === 'all' ? allOf(predicates) : anyOf(predicates)),
    explain: (product) => predicates.map(({ matches }) => matches(product)),
  }
}

function predicateOf({ field, operator, value }: Condition): Predicate {
  const found = findField(field)?.get(operator)
  if (found === undefined) throw new Error(`no rules are made of ${field} ${operator}`)
  return found.predicate(value)
}
