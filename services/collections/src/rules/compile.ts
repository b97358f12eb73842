import { ApiError } from '@backoffice/contracts/errors.ts'
import { findField } from './fields.ts'
import { allOf, anyOf, type Predicate } from './predicate.ts'
import type { RuleProduct } from './rule-product.ts'
import { AnyRules, type Rules } from './rules.ts'

/** Rules as one predicate: `matches` tests a product in memory, `toSql` selects products in the database. */
export interface CompiledRules extends Predicate {
  /** The result of each condition, in their order. */
  explain(product: RuleProduct): boolean[]
}

/** Rules that this process cannot read: a newer version of the service, which runs during a deploy, wrote them. */
export class UnreadableRules extends ApiError {
  constructor(cause: unknown) {
    super('service_unavailable', 'the collection has rules of a newer version of this service; try again', { cause })
  }
}

/** Throws `UnreadableRules` for an unknown field, operator, member or value: without it rules mean something else. */
export function compileRules(rules: Rules): CompiledRules {
  try {
    const { match, conditions } = AnyRules.parse(rules)
    const predicates = conditions.map(({ field, operator, value }) => {
      const definition = findField(field)?.get(operator)
      if (definition === undefined) throw new Error(`unknown rule: ${field} ${operator}`)
      return definition.predicate(value)
    })
    return {
      ...(match === 'all' ? allOf(predicates) : anyOf(predicates)),
      explain: (product) => predicates.map(({ matches }) => matches(product)),
    }
  } catch (error) {
    throw new UnreadableRules(error)
  }
}
