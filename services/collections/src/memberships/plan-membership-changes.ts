import { lettingOthersRun } from '@backoffice/runtime/give-way.ts'
import type { RuleProduct } from '../rules/rule-product.ts'
import type { RuleBasedVersion } from './rule-sets.ts'

/** A product with a change that may concern rules, orders or the storefront. */
export interface ChangedProduct {
  readonly workspaceId: string
  readonly id: string
  readonly ruleFields: RuleProduct
}

export interface MemberKey {
  readonly workspaceId: string
  readonly versionNumber: number
  readonly productId: string
}

/** A member of a membership version that is not RETIRED. */
export interface StoredMember extends MemberKey {
  readonly isRuleBased: boolean
  /** Its sort key or availability differs from its product's. */
  readonly isOutdated: boolean
}

/**
 * The members to delete, update and insert after products have changed. Removes no hand-picked members, and none of
 * versions whose rules cannot be read. Gives way: the rules of a workspace may take seconds.
 */
export async function planMembershipChanges(
  products: readonly ChangedProduct[],
  versions: ReadonlyMap<string, readonly RuleBasedVersion[]>,
  members: readonly StoredMember[],
) {
  const giveWay = lettingOthersRun()
  const added = new Map<string, MemberKey>()
  for (const { workspaceId, id: productId, ruleFields } of products) {
    for (const { number: versionNumber, rules } of versions.get(workspaceId) ?? []) {
      await giveWay()
      if (!rules?.matches(ruleFields)) continue
      const key = { workspaceId, versionNumber, productId }
      added.set(textOf(key), key)
    }
  }
  const unreadable = new Set(unreadableOf(versions))
  const [removed, updated]: [StoredMember[], StoredMember[]] = [[], []]
  for (const member of members) {
    const isMatch = added.delete(textOf(member))
    if (member.isRuleBased && !isMatch && !unreadable.has(member.versionNumber)) removed.push(member)
    else if (member.isOutdated) updated.push(member)
  }
  return { removed, updated, added: [...added.values()] }
}

/** The versions whose rules cannot be read. */
export const unreadableOf = (versions: ReadonlyMap<string, readonly RuleBasedVersion[]>): number[] =>
  [...versions.values()].flat().flatMap(({ number, rules }) => (rules === null ? [number] : []))

const textOf = ({ versionNumber, productId }: MemberKey): string => `${versionNumber} ${productId}`
