import type { ChangedProduct } from '../members/plan-settlement.ts'
import { ruleProductOf } from '../rules/rule-product.ts'
import type { ToldState } from './product-state.ts'

/** A product's state as the projection takes it. */
export interface ProjectedProduct extends ChangedProduct {
  readonly version: number
  /** The product's body as the API shows it, in JSON. */
  readonly body: string
}

/** Brings a state into the projection's shape. */
export function projectedOf({ workspace_id: workspaceId, data }: ToldState): ProjectedProduct {
  const { slug: _slug, tags: _tags, version, ...shown } = data
  const variants = shown.variants.map(({ cost: _cost, ...variant }) => variant)
  const body = JSON.stringify({ ...shown, variants })
  return { workspaceId, id: data.id.toLowerCase(), version, asked: ruleProductOf(data), body }
}
