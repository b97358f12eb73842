import { isDeepStrictEqual } from 'node:util'
import { notFound, unprocessable } from '@backoffice/contracts/errors.ts'
import type { MoneyMap } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import type { ProductRecord, VariantRecord } from '../products/product-view.ts'

type Options = Product['options']
type Attributes = VariantRecord['attributes']

/** What a variant's attributes, by option name, come to. */
export interface PlannedAttributes {
  /** Option id → value. */
  readonly attributes: Attributes
  /** The product's options, values they did not have at their end (OP-24). */
  readonly options: Options
  /** Those of them that got a value; positions count from 1. */
  readonly extended: readonly ExtendedOption[]
}

export interface ExtendedOption {
  readonly id: string
  readonly position: number
  readonly value: string
  readonly values: readonly string[]
}

/** The members of a variant that an update sets, its stock aside: that may change meanwhile. */
export type VariantChanges = Partial<Omit<VariantRecord, 'id' | 'stock'>>

interface VariantMembers {
  readonly sku?: string | undefined
  readonly price?: MoneyMap | null | undefined
  readonly cost?: MoneyMap | null | undefined
}

/** The variant of that id. Throws `not_found` when the product has none. */
export function variantOf(product: ProductRecord, id: string): VariantRecord {
  const variant = product.variants.find((one) => one.id === id)
  if (variant === undefined) throw notFound(`variant_id: product ${product.id} has no variant ${id}`)
  return variant
}

/** Throws `unprocessable` for a product whose one variant is managed with the product (spec: Update rules 1 and 7). */
export function refuseDefaultVariant({ id, type }: ProductRecord): void {
  if (type === 'VARIABLE_PRODUCT') return
  throw unprocessable(`id: a ${type} has one default variant; change it, or the type, with PUT /v1/products/${id}`)
}

/** Throws `unprocessable` when the product has as many variants as it can have (OP-07). */
export function refuseOneTooMany({ variants }: ProductRecord): void {
  if (variants.length < LIMITS.variantsPerProduct) return
  throw unprocessable(`id: the product has ${variants.length} variants, the most it can have; delete one first`)
}

/** Throws `unprocessable` when this variant is all the product has (OP-94). */
export function refuseTheLast({ id, variants }: ProductRecord): void {
  if (variants.length > 1) return
  throw unprocessable(
    `variant_id: is the product's last variant; delete the product, or switch its type, at /v1/products/${id}`,
  )
}

/** Throws `unprocessable` when the product's stock, with this much on one variant (`self` when it is there), is beyond 2^53−1. */
export function refuseTooMuchStock({ variants }: ProductRecord, stock: number, self?: VariantRecord): void {
  const others = variants.reduce((sum, variant) => sum + (variant.id === self?.id ? 0 : variant.stock), 0)
  if (!Number.isSafeInteger(others + stock)) {
    throw unprocessable("stock: with the other variants' stock it adds up to more than 2^53−1")
  }
}

/**
 * Chooses one value of each option, no more and no fewer (spec: Create rules 2); a value the product does not have is added
 * (OP-22). Throws `unprocessable` for anything else, and when a variant other than `self` has the combination (OP-94).
 */
export function planAttributes(
  product: ProductRecord,
  options: Options,
  attributes: Readonly<Record<string, string>>,
  self?: VariantRecord,
): PlannedAttributes {
  const valueByName = new Map(Object.entries(attributes))
  for (const name of valueByName.keys()) {
    if (!options.some((option) => option.name === name)) {
      throw unprocessable(`attributes.${name}: the product has no such option`)
    }
  }
  const chosen = options.map((option, index) => {
    const value = valueByName.get(option.name)
    if (value === undefined) throw unprocessable(`attributes: needs a value for the option "${option.name}"`)
    const isNew = !option.values.includes(value)
    return { ...option, position: index + 1, value, values: isNew ? [...option.values, value] : option.values, isNew }
  })
  if (chosen.length === 0) throw unprocessable('attributes: needs a value for at least one option')
  const twin = product.variants.find(
    (other) => other.id !== self?.id && chosen.every(({ id, value }) => other.attributes[id] === value),
  )
  if (twin !== undefined) throw unprocessable(`attributes: the variant "${twin.sku}" has the same combination`)
  return {
    attributes: Object.fromEntries(chosen.map(({ id, value }) => [id, value])),
    options: chosen.map(({ id, name, values }) => ({ id, name, values })),
    extended: chosen
      .filter(({ isNew }) => isNew)
      .map(({ id, position, value, values }) => ({ id, position, value, values })),
  }
}

/** What an update of a variant sets: the members that differ from what it has, so that a change to the same is none (OP-73). */
export function planChanges(current: VariantRecord, { sku, price, cost }: VariantMembers, attributes?: Attributes) {
  const wanted: VariantChanges = {
    ...(sku !== undefined && { sku }),
    ...(price !== undefined && { price: price ?? {} }),
    ...(cost !== undefined && { cost: cost ?? {} }),
    ...(attributes !== undefined && { attributes }),
  }
  const differs = (member: string, value: unknown) => !isDeepStrictEqual(value, current[member as keyof VariantChanges])
  return Object.fromEntries(
    Object.entries(wanted).filter(([member, value]) => differs(member, value)),
  ) as VariantChanges
}
