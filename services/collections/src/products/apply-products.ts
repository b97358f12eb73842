import type { AnySql } from '@backoffice/postgres/database.ts'
import type { RuleSets } from '../memberships/rule-sets.ts'
import { updateMemberships } from '../memberships/update-memberships.ts'
import { applyDeletions } from './delete-products.ts'
import type { StateRecord } from './product-state.ts'
import { projectionRowOf } from './projection-row.ts'
import { writeProducts } from './write-products.ts'

/** A product's new state, or its deletion. */
export interface ProductChange {
  readonly workspaceId: string
  readonly id: string
  /** Null once the product is deleted. */
  readonly state: StateRecord
}

/**
 * Writes changes of different products to the projection and updates memberships. States that are not newer, and states
 * of deleted products, change nothing. Needs the locks of the products' partition, then of their workspaces'
 * memberships SHARED.
 */
export async function applyProducts(
  sql: AnySql,
  ruleSets: RuleSets,
  changes: readonly Pick<ProductChange, 'id' | 'state'>[],
): Promise<void> {
  const products = changes.flatMap(({ state }) => (state ? [projectionRowOf(state)] : []))
  const deleted = changes.filter(({ state }) => state === null).map(({ id }) => id)
  await applyDeletions(sql, deleted, products)
  const changed = await writeProducts(sql, products, sql`known.version >= state.version`)
  if (changed.length > 0) await updateMemberships(sql, ruleSets, changed)
}
