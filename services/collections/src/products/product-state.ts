import { Id, MoneyMap, Timestamp } from '@backoffice/contracts/fields.ts'
import type { ProductData, ProductState } from '@backoffice/contracts/product-records.ts'
import { z } from 'zod'
import { ruleProductOf } from '../rules/rule-product.ts'

const Text = z.string()

/** The members of a state that the projection reads. Other members pass through to the body unchecked. */
const RequiredState = z.object({
  id: Id,
  version: z.int(),
  name: Text,
  type: Text,
  status: Text,
  categories: z.array(z.object({ id: Text, slug: Text })),
  tags: z.array(z.object({ id: Text, slug: Text, name: Text })),
  requires_shipping: z.boolean(),
  can_preorder: z.boolean(),
  total_stock: z.int(),
  variants: z.array(z.object({ sku: Text, price: MoneyMap, cost: MoneyMap })),
  created_at: Timestamp,
})

/** A state with all its members, after a check of the required ones. */
const State = z.custom<ProductState>().superRefine((state, context) => {
  for (const issue of RequiredState.safeParse(state).error?.issues ?? []) context.addIssue({ ...issue })
})

/** A record of catalog.products: a product's state; null once the product is deleted. */
export const StateRecord = z.object({ workspace_id: Id, data: State }).nullable()
export type StateRecord = z.output<typeof StateRecord>

/** The latest state of each product, or its deletion: a deleted product stays deleted, since ids are never reused. */
export function latestStates(records: readonly { readonly key: string; readonly value: StateRecord }[]) {
  const latest = new Map<string, StateRecord>()
  for (const { key, value } of records) {
    const id = (value?.data.id ?? key).toLowerCase()
    const known = latest.get(id)
    if (known === null || (known && value && known.data.version > value.data.version)) continue
    latest.set(id, value)
  }
  return {
    states: [...latest.values()].filter((state) => state !== null),
    deleted: [...latest].filter(([, state]) => state === null).map(([id]) => id),
  }
}

export type ProjectionRow = ReturnType<typeof projectionRowOf>

/** Makes the projection's row from a product's state. */
export function projectionRowOf({ workspace_id: workspaceId, data }: NonNullable<StateRecord>) {
  const { slug: _slug, tags: _tags, version, ...shown } = data
  const variants = shown.variants.map(({ cost: _cost, ...variant }) => variant)
  const body: ProductData = { ...shown, variants }
  return {
    workspaceId,
    id: data.id.toLowerCase(),
    version,
    ruleFields: ruleProductOf(data),
    /** The product's body in JSON, as the record has it. */
    body: JSON.stringify(body),
  }
}
