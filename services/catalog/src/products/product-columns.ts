import { PRODUCT } from '@backoffice/contracts/product.ts'
import type { Change } from './product-difference.ts'
import type { ProductRecord } from './product-view.ts'

type Member = (typeof PRODUCT.names)[number]

/** Columns that every change of a product writes. */
const OF_EVERY_CHANGE: readonly Member[] = ['version', 'updatedAt']
const FIXED: readonly Member[] = ['id', 'createdAt', 'refreshes', ...OF_EVERY_CHANGE]
/** The members that generated columns depend on. They cost up to a third of an update, so only changed ones are set. */
const WITH_GENERATED: readonly Member[] = ['name', 'slug']
const OTHERS = PRODUCT.names.filter((member) => !FIXED.includes(member) && !WITH_GENERATED.includes(member))

/**
 * `requires_shipping = row."requiresShipping", …`: the columns that changes of products write. There are only eight
 * such lists, so PostgreSQL keeps a plan for each.
 */
export function assignmentsOf(changes: readonly Change<ProductRecord>[]): string {
  const differs = (member: Member) =>
    changes.some(({ before, after }) => before && before[member]?.valueOf() !== after[member]?.valueOf())
  return PRODUCT.sql.assignments([
    ...OF_EVERY_CHANGE,
    ...WITH_GENERATED.filter(differs),
    ...(OTHERS.some(differs) ? OTHERS : []),
  ])
}
