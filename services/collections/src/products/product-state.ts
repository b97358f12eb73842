import { Id, MoneyMap, Timestamp } from '@backoffice/contracts/fields.ts'
import type { ProductState } from '@backoffice/contracts/product.ts'
import { z } from 'zod'

const Text = z.string()

/** What the projection itself reads of a state. Other members, wherever they are, may come and be shown without being known here. */
const Needed = z.object({
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

/** The state as it came, once what is needed of it has been found there. */
const State = z.custom<ProductState>().superRefine((state, context) => {
  for (const issue of Needed.safeParse(state).error?.issues ?? []) context.addIssue({ ...issue })
})

/** A record of catalog.products: a product's state; null once the product is deleted. */
export const StateRecord = z.object({ workspace_id: Id, data: State }).nullable()
export type StateRecord = z.output<typeof StateRecord>

/** What is told of a product that is there. */
export type ToldState = NonNullable<StateRecord>

/**
 * What records of one partition come to, whatever their order: of a product's states the one with the highest version; a product
 * that is deleted stays so, since ids are never given again.
 */
export function newestOf(records: readonly { readonly key: string; readonly value: StateRecord }[]) {
  const newest = new Map<string, StateRecord>()
  for (const { key, value } of records) {
    const id = (value?.data.id ?? key).toLowerCase()
    const known = newest.get(id)
    if (known === null || (known && value && known.data.version > value.data.version)) continue
    newest.set(id, value)
  }
  return {
    states: [...newest.values()].filter((state) => state !== null),
    deleted: [...newest].filter(([, state]) => state === null).map(([id]) => id),
  }
}
