import { ApiError } from '@backoffice/contracts/errors.ts'
import { type GiveWay, lettingOthersRun } from '@backoffice/runtime/give-way.ts'
import { findField } from './fields.ts'
import { allOf, anyOf, type Predicate } from './predicate.ts'
import type { RuleProduct } from './rule-product.ts'
import { AnyRules, type Condition, type Rules } from './rules.ts'

/** Rules as one predicate: `matches` tests a product in memory, `toSql` selects products in the database. */
export type CompiledRules = Predicate

/** Rules that this process cannot read: a newer version of the service, which runs during a deploy, wrote them. */
export class UnreadableRules extends ApiError {
  constructor(cause: unknown) {
    super('service_unavailable', 'the collection has rules of a newer version of this service; try again', { cause })
  }
}

/**
 * Gives way: to compile 60 lists of 1,000 values takes some 50 ms. Throws `UnreadableRules` for an unknown field,
 * operator, member or value: without it rules mean something else.
 */
export async function compileRules(rules: Rules, giveWay = lettingOthersRun()): Promise<CompiledRules> {
  const predicates = await Array.fromAsync(predicatesOf(rules, giveWay))
  return rules.match === 'all' ? allOf(predicates) : anyOf(predicates)
}

/** Whether each condition holds for a product, in their order. Gives way. Throws `UnreadableRules`. */
export const explainRules = (rules: Rules, product: RuleProduct): Promise<boolean[]> =>
  Array.fromAsync(predicatesOf(rules, lettingOthersRun()), ({ matches }) => matches(product))

async function* predicatesOf(rules: Rules, giveWay: GiveWay): AsyncGenerator<Predicate> {
  for (const condition of readAny(rules).conditions) {
    await giveWay()
    yield compileCondition(condition)
  }
}

const readAny = (rules: Rules) => orUnreadable(() => AnyRules.parse(rules))

const compileCondition = ({ field, operator, value }: Condition): Predicate =>
  orUnreadable(() => {
    const definition = findField(field)?.get(operator)
    if (definition === undefined) throw new Error(`unknown rule: ${field} ${operator}`)
    return definition.predicate(value)
  })

function orUnreadable<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw new UnreadableRules(error)
  }
}
