import type { RuleProduct } from '../rules/rule-product.ts'
import type { RuledGeneration } from './rule-sets.ts'

/** A product of which rules, orders or the storefront may see something else than before. */
export interface ChangedProduct {
  readonly workspaceId: string
  readonly id: string
  readonly asked: RuleProduct
}

/** A product's membership of a generation. */
export interface MemberKey {
  readonly workspaceId: string
  readonly number: number
  readonly productId: string
}

/** A membership that a changed product has. */
export interface Membership extends MemberKey {
  readonly isRuled: boolean
  /** It is not where the order has it now, or its availability has changed. */
  readonly isMoved: boolean
}

/** What has to be written so that changed products are the members that they should be. */
export interface Settlement {
  readonly leaving: readonly MemberKey[]
  readonly moving: readonly MemberKey[]
  readonly joining: readonly MemberKey[]
}

/** Compares the memberships that products have with the rules that they meet. What was picked by hand only moves. */
export function planSettlement(
  products: readonly ChangedProduct[],
  rules: ReadonlyMap<string, readonly RuledGeneration[]>,
  memberships: readonly Membership[],
): Settlement {
  const missing = new Map<string, MemberKey>()
  for (const { workspaceId, id: productId, asked } of products) {
    for (const { number, rules: compiled } of rules.get(workspaceId) ?? []) {
      if (!compiled.matches(asked)) continue
      const key = { workspaceId, number, productId }
      missing.set(nameOf(key), key)
    }
  }
  const [leaving, moving]: [Membership[], Membership[]] = [[], []]
  for (const membership of memberships) {
    const isMet = missing.delete(nameOf(membership))
    if (membership.isRuled && !isMet) leaving.push(membership)
    else if (membership.isMoved) moving.push(membership)
  }
  return { leaving, moving, joining: [...missing.values()] }
}

const nameOf = ({ number, productId }: MemberKey): string => `${number} ${productId}`
