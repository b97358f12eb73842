import { isDeepStrictEqual } from 'node:util'
import { assignmentsOf } from './product-columns.ts'
import type { ProductRecord } from './product-view.ts'

/** An item before and after a change; a new one has no `before`. */
export interface Change<Item> {
  readonly before: Item | undefined
  readonly after: Item
}

/** A row that links a product with a category, tag or option. */
export interface Link {
  readonly product: string
  readonly id: string
}

type ProductChange = Change<ProductRecord>

export type Difference = ReturnType<typeof differenceOf>

/** The rows to insert, update and delete so that the products before become the products after. */
export function differenceOf(changes: readonly ProductChange[]) {
  const variants = changes.map(variantsOf)
  const created = changes.filter(({ before }) => before === undefined).map(({ after }) => after)
  return {
    created: created.toSorted(inOrder(({ slug }) => slug)),
    changed: changes.filter(({ before }) => before !== undefined).map(({ after }) => after),
    /** The columns of changed products to set, as SQL. */
    assignments: assignmentsOf(changes),
    /** SKUs and slugs that a product or variant did not have before. */
    claimedSkus: variants.flatMap(({ claimedSkus }) => claimedSkus),
    claimedSlugs: changes.filter(({ before, after }) => before?.slug !== after.slug).map(({ after }) => after.slug),
    newVariants: variants.flatMap(({ added }) => added).toSorted(inOrder(({ sku }) => sku)),
    changedVariants: variants.flatMap(({ changed }) => changed),
    removedVariants: variants.flatMap(({ added, removed }) => (added.length === 0 ? removed : [])),
    /** The removed variants of products that get new ones. */
    replacedVariants: variants.flatMap(({ added, removed }) => (added.length === 0 ? [] : removed)),
    options: {
      set: changes.flatMap(changedOptions),
      removed: changes.flatMap((change) => removedLinks(change, 'options')),
    },
    categories: linksOf(changes, 'categories'),
    tags: linksOf(changes, 'tags'),
    media: mediaOf(changes),
  }
}

function variantsOf({ before, after }: ProductChange) {
  const former = new Map(before?.variants.map((variant) => [variant.id, variant]))
  const kept = new Set(after.variants.map(({ id }) => id))
  const added = after.variants.filter(({ id }) => !former.has(id))
  const changed = after.variants.filter((variant) => !isDeepStrictEqual(former.get(variant.id) ?? variant, variant))
  return {
    added: added.map((variant, index) => ({
      ...variant,
      product: after.id,
      /** Its place among the variants that are new to the product, from 1. */
      nth: index + 1,
      isFirst: former.size === 0,
    })),
    changed: changed.map((variant) => ({
      ...variant,
      /** Undefined when the change keeps the stock: orders may change it meanwhile. */
      stock: variant.stock === former.get(variant.id)?.stock ? undefined : variant.stock,
    })),
    removed: [...former.keys()].filter((id) => !kept.has(id)),
    claimedSkus: after.variants.filter(({ id, sku }) => former.get(id)?.sku !== sku).map(({ sku }) => sku),
  }
}

/** Options that are new to the product, or have other values than before; `added` are the new values (OP-24). */
function changedOptions({ before, after }: ProductChange) {
  const former = new Map(before?.options.map(({ id, values }) => [id, new Set(values)]))
  return after.options.flatMap(({ id, values }, index) => {
    const added = values.filter((value) => !former.get(id)?.has(value))
    return former.get(id)?.size === values.length && added.length === 0
      ? []
      : [{ product: after.id, id, position: index + 1, values, added }]
  })
}

function linksOf(changes: readonly ProductChange[], member: 'categories' | 'tags') {
  const changed = changes.filter(({ before, after }) => !hasSameIds(before?.[member] ?? [], after[member]))
  return {
    set: changed.flatMap(({ after }) =>
      after[member].map(({ id }, index) => ({ product: after.id, id, position: index + 1 })),
    ),
    removed: changed.flatMap((change) => removedLinks(change, member)),
  }
}

function removedLinks({ before, after }: ProductChange, member: 'options' | 'categories' | 'tags'): Link[] {
  const kept = new Set(after[member].map(({ id }) => id))
  return (before?.[member] ?? []).filter(({ id }) => !kept.has(id)).map(({ id }) => ({ product: after.id, id }))
}

function mediaOf(changes: readonly ProductChange[]) {
  const changed = changes.filter(({ before, after }) => !isDeepStrictEqual(before?.media ?? [], after.media))
  return {
    set: changed.flatMap(({ after }) => after.media.map((item) => ({ ...item, product: after.id }))),
    removed: changed.flatMap(({ before, after }) => {
      const kept = new Set(after.media.map(({ id }) => id))
      return (before?.media ?? []).map(({ id }) => id).filter((id) => !kept.has(id))
    }),
  }
}

const hasSameIds = (some: readonly { id: string }[], others: readonly { id: string }[]): boolean =>
  some.length === others.length && some.every(({ id }, index) => id === others[index]?.id)

const inOrder =
  <Item>(keyOf: (item: Item) => string) =>
  (one: Item, other: Item) =>
    keyOf(one) < keyOf(other) ? -1 : 1
