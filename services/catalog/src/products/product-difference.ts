import { isDeepStrictEqual } from 'node:util'
import { PRODUCT } from '@backoffice/contracts/product.ts'
import type { ProductRecord } from './product-view.ts'

/** A product before and after a change; a new one has no `before`. */
export interface ProductChange {
  readonly before: ProductRecord | undefined
  readonly after: ProductRecord
}

/** A row that links a product with a category, tag, option or media item. */
export interface Link {
  readonly product: string
  readonly id: string
}

export type Difference = ReturnType<typeof differenceOf>

/** The rows to insert, update and delete so that the products before become the products after. */
export function differenceOf(changes: readonly ProductChange[]) {
  const variants = changes.map(variantsOf)
  const created = changes.filter(({ before }) => before === undefined).map(({ after }) => after)
  return {
    created: created.toSorted((one, other) => (one.slug < other.slug ? -1 : 1)),
    changed: changes.filter(({ before }) => before !== undefined).map(({ after }) => after),
    /** The columns of changed products to set, as SQL. */
    assignments: assignmentsOf(changes),
    newVariants: variants.flatMap(({ added }) => added).toSorted((one, other) => (one.sku < other.sku ? -1 : 1)),
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

type Member = (typeof PRODUCT.names)[number]

/** Columns that every change of a product writes. */
const OF_EVERY_CHANGE: readonly Member[] = ['version', 'refreshes', 'updatedAt']
const FIXED: readonly Member[] = ['id', 'createdAt', ...OF_EVERY_CHANGE]
/** The members that generated columns depend on. They cost up to a third of an update, so only changed ones are set. */
const WITH_GENERATED: readonly Member[] = ['name', 'slug']
const OTHERS = PRODUCT.names.filter((member) => !FIXED.includes(member) && !WITH_GENERATED.includes(member))

/**
 * `requires_shipping = row."requiresShipping", …`: the columns that changes of products write. There are only eight
 * such lists, so PostgreSQL keeps a plan for each.
 */
function assignmentsOf(changes: readonly ProductChange[]): string {
  const differs = (member: Member) =>
    changes.some(({ before, after }) => before && before[member]?.valueOf() !== after[member]?.valueOf())
  return PRODUCT.sql.assignments([
    ...OF_EVERY_CHANGE,
    ...WITH_GENERATED.filter(differs),
    ...(OTHERS.some(differs) ? OTHERS : []),
  ])
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
  }
}

/** The SKUs and the slug that a variant or the product did not have before, and that no removed variant leaves free. */
export function claimedBy({ before, after }: ProductChange) {
  const skuBefore = new Map(before?.variants.map(({ id, sku }) => [id, sku]))
  const kept = new Set(after.variants.map(({ id }) => id))
  const free = new Set(before?.variants.filter(({ id }) => !kept.has(id)).map(({ sku }) => sku))
  return {
    skus: after.variants.filter(({ id, sku }) => skuBefore.get(id) !== sku && !free.has(sku)).map(({ sku }) => sku),
    slugs: before?.slug === after.slug ? [] : [after.slug],
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

function removedLinks({ before, after }: ProductChange, member: 'options' | 'categories' | 'tags' | 'media'): Link[] {
  const kept = new Set(after[member].map(({ id }) => id))
  return (before?.[member] ?? []).filter(({ id }) => !kept.has(id)).map(({ id }) => ({ product: after.id, id }))
}

function mediaOf(changes: readonly ProductChange[]) {
  const changed = changes.filter(({ before, after }) => !isDeepStrictEqual(before?.media ?? [], after.media))
  return {
    set: changed.flatMap(({ after }) => after.media.map((item) => ({ ...item, product: after.id }))),
    removed: changed.flatMap((change) => removedLinks(change, 'media')).map(({ id }) => id),
  }
}

const hasSameIds = (some: readonly { id: string }[], others: readonly { id: string }[]): boolean =>
  some.length === others.length && some.every(({ id }, index) => id === others[index]?.id)
