import { notFound, unprocessable } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { type Product, VARIANT } from '@backoffice/contracts/product.ts'
import type { z } from 'zod'
import { refuseEmptyAmounts } from '../products/plan-update.ts'
import type { ProductRecord, VariantRecord } from '../products/product-view.ts'

type Options = Product['options']

/** `attributes` maps option names to values. */
type VariantMembers = z.output<z.ZodObject<typeof VARIANT.shapes.update>> & {
  readonly attributes?: Readonly<Record<string, string>> | undefined
}
type NewVariantMembers = VariantMembers & Pick<VariantRecord, 'id' | 'sku' | 'stock'>

/**
 * The product with one more variant, its last. The first one gives a product without options those that it names, in
 * the order sent, with these ids by name (OP-22). No variant of `others` may have the combination. Throws
 * `unprocessable`.
 */
export function withNewVariant(
  product: ProductRecord,
  { attributes = {}, ...members }: NewVariantMembers,
  optionIds: ReadonlyMap<string, string>,
  others: Pick<ProductRecord, 'variants'> = product,
): ProductRecord {
  refuseOneTooMany(product)
  refuseTooMuchStock(product, members.stock)
  const defined = Object.keys(attributes).map((name) => ({ id: optionIds.get(name) ?? '', name, values: [] }))
  const plan = planAttributes(others, product.options.length > 0 ? product.options : defined, attributes)
  const { id, sku, stock } = members
  const variant = VARIANT.changed({ ...VARIANT.initial, id, sku, stock, attributes: plan.attributes }, members)
  return { ...product, options: plan.options, variants: [...product.variants, variant] }
}

/**
 * The product with the members of one of its variants that are sent; the others stay. No other variant of `others` may
 * have the combination. Throws `unprocessable`.
 */
export function withChangedVariant(
  product: ProductRecord,
  current: VariantRecord,
  members: VariantMembers,
  others: Pick<ProductRecord, 'variants'> = product,
): ProductRecord {
  const { stock, attributes } = members
  refuseEmptyAmounts(members)
  if (stock !== undefined) refuseTooMuchStock(product, stock, current)
  const plan = attributes && planAttributes(others, product.options, attributes, current)
  const variant = { ...VARIANT.changed(current, members), attributes: plan?.attributes ?? current.attributes }
  return {
    ...product,
    options: plan?.options ?? product.options,
    variants: product.variants.map((one) => (one === current ? variant : one)),
  }
}

/** The variant with that id. Throws `not_found` when the product has none. */
export function variantOf(product: ProductRecord, id: string): VariantRecord {
  const variant = product.variants.find((one) => one.id === id)
  if (variant === undefined) throw notFound(['variant_id'], `product ${product.id} has no variant ${id}`)
  return variant
}

/** Throws `unprocessable` for a product whose one variant is managed with the product (spec: Update rules 1 and 7). */
export function refuseDefaultVariant({ id, type }: ProductRecord): void {
  if (type === 'VARIABLE_PRODUCT') return
  throw unprocessable(['id'], `a ${type} has one default variant; change it, or the type, with PUT /v1/products/${id}`)
}

/** Throws `unprocessable` when the product has as many variants as it can have (OP-07). */
export function refuseOneTooMany({ variants }: ProductRecord): void {
  if (variants.length < LIMITS.variantsPerProduct) return
  throw unprocessable(
    ['id'],
    `the product has ${variants.length} variants, the most it can have; delete one first`,
    'limit_reached',
  )
}

/** Throws `unprocessable` when the product has one variant left (OP-94). */
export function refuseTheLast({ id, variants }: ProductRecord): void {
  if (variants.length > 1) return
  throw unprocessable(
    ['variant_id'],
    `is the product's last variant; delete the product, or switch its type, at /v1/products/${id}`,
  )
}

/** Throws `unprocessable` when this stock, of a new variant or of `self`, brings the product's stock beyond 2^53−1. */
export function refuseTooMuchStock({ variants }: ProductRecord, stock: number, self?: VariantRecord): void {
  const others = variants.reduce((sum, variant) => sum + (variant.id === self?.id ? 0 : variant.stock), 0)
  if (!Number.isSafeInteger(others + stock)) {
    throw unprocessable(['stock'], "with the other variants' stock it adds up to more than 2^53−1")
  }
}

/**
 * Chooses one value of each option, no more and no fewer (spec: Create rules 2), and returns them by option id, with
 * the options; a value that an option does not have is added at its end (OP-22, OP-24). Throws `unprocessable` for
 * anything else, and when one of `others`, `self` aside, has the combination (OP-94).
 */
export function planAttributes(
  others: Pick<ProductRecord, 'variants'>,
  options: Options,
  attributes: Readonly<Record<string, string>>,
  self?: VariantRecord,
): Pick<VariantRecord, 'attributes'> & { options: Options } {
  const valueByName = new Map(Object.entries(attributes))
  const names = new Set(options.map(({ name }) => name))
  for (const name of valueByName.keys()) {
    if (!names.has(name)) throw unprocessable(['attributes', name], 'the product has no such option')
  }
  const chosen = options.map((option) => {
    const value = valueByName.get(option.name)
    if (value === undefined) throw unprocessable(['attributes'], `needs a value for the option "${option.name}"`)
    return { ...option, value, values: option.values.includes(value) ? option.values : [...option.values, value] }
  })
  if (chosen.length === 0) throw unprocessable(['attributes'], 'needs a value for at least one option')
  const twin = others.variants.find(
    (other) => other.id !== self?.id && chosen.every(({ id, value }) => other.attributes[id] === value),
  )
  if (twin !== undefined) throw unprocessable(['attributes'], `the variant "${twin.sku}" has the same combination`)
  return {
    attributes: Object.fromEntries(chosen.map(({ id, value }) => [id, value])),
    options: chosen.map(({ id, name, values }) => ({ id, name, values })),
  }
}
