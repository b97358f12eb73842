import type { MoneyMap } from '@backoffice/contracts/fields.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { fold } from './fold.ts'

/** The fields of a product that rules read, with the names and values of the projection's columns. */
export type RuleProduct = Readonly<ReturnType<typeof ruleProductOf>>

/** The distinct amounts of all variants by currency, in minor units, ascending. */
type Amounts = Readonly<Record<string, readonly number[]>>

/** Reads the rule fields from a product's state. Folds all texts from merchants. */
export function ruleProductOf(state: ProductState) {
  const { variants } = state
  return {
    name: fold(state.name),
    skus: variants.map(({ sku }) => `\n${fold(sku)}\n`).join(''),
    type: state.type,
    status: state.status,
    categories: distinct(state.categories.flatMap(({ id, slug }) => [fold(id), fold(slug)])),
    tags: distinct(state.tags.flatMap(({ id, slug, name }) => [fold(id), fold(slug), fold(name)])),
    prices: amountsOf(variants.map(({ price }) => price)),
    costs: amountsOf(variants.map(({ cost }) => cost)),
    stock: state.total_stock,
    requires_shipping: state.requires_shipping,
    can_preorder: state.can_preorder,
    /** In UTC and milliseconds, so that texts sort by time. */
    created_at: new Date(state.created_at).toISOString(),
  }
}

function amountsOf(maps: readonly MoneyMap[]): Amounts {
  const entries = maps.flatMap((map) => Object.entries(map))
  const byCurrency = Object.entries(Object.groupBy(entries, ([currency]) => currency))
  return Object.fromEntries(
    byCurrency.map(([currency, entries = []]) => [
      currency,
      distinct(entries.map(([, amount]) => amount)).sort((one, other) => one - other),
    ]),
  )
}

const distinct = <Value>(values: readonly Value[]): Value[] => [...new Set(values)]
