import type { ProductData } from '@backoffice/contracts/product-records.ts'
import type { ChangedProduct } from '../memberships/plan-membership-changes.ts'
import { ruleProductOf } from '../rules/rule-product.ts'
import type { StateRecord } from './product-state.ts'

/** A product's row in the projection. */
export interface ProjectionRow extends ChangedProduct {
  readonly version: number
  /** The product's body in JSON, as the record has it. */
  readonly body: string
}

/** Makes the projection's row from a product's state. */
export function projectionRowOf({ workspace_id: workspaceId, data }: NonNullable<StateRecord>): ProjectionRow {
  const { slug: _slug, tags: _tags, version, ...shown } = data
  const variants = shown.variants.map(({ cost: _cost, ...variant }) => variant)
  const body: ProductData = { ...shown, variants }
  return {
    workspaceId,
    id: data.id.toLowerCase(),
    version,
    ruleFields: ruleProductOf(data),
    body: JSON.stringify(body),
  }
}
