import { badRequest, unprocessable } from '@backoffice/contracts/errors.ts'
import type { MoneyMap } from '@backoffice/contracts/fields.ts'
import type { ProductStatus } from '@backoffice/contracts/product.ts'
import type { CreateProductBody } from './product-input.ts'

/** What a product is to become, every rule that needs no database applied. */
export interface ProductPlan {
  readonly status: ProductStatus
  readonly requiresShipping: boolean
  readonly options: readonly PlannedOption[]
  readonly variants: readonly PlannedVariant[]
}

export interface PlannedOption {
  readonly name: string
  readonly values: readonly string[]
}

export interface PlannedVariant {
  /** Where the request says it: `sku` or `variants[1].sku`. */
  readonly skuPath: string
  readonly sku: string
  readonly stock: number
  readonly price: MoneyMap
  readonly cost: MoneyMap
  /** Option name → value. */
  readonly attributes: ReadonlyMap<string, string>
}

/** Members that belong on each variant of a VARIABLE product (spec: Create rules 2). */
export const PER_VARIANT = ['sku', 'price', 'cost', 'stock'] as const

/**
 * Applies the Create rules 1, 2 and 4 (spec: Products; OP-13, OP-15). Throws `bad_request` when a member the type requires
 * is missing, `unprocessable` when members contradict each other or the workspace has switched the status off.
 */
export function planProduct(body: CreateProductBody, supported: readonly ProductStatus[]): ProductPlan {
  const status = body.status ?? 'ACTIVE'
  refuseUnsupportedStatus(status, supported)
  const variants = body.type === 'VARIABLE_PRODUCT' ? planVariants(body) : [planDefaultVariant(body)]
  const total = variants.reduce((sum, variant) => sum + variant.stock, 0)
  if (!Number.isSafeInteger(total)) throw unprocessable('variants: their stock adds up to more than 2^53−1')
  return {
    status,
    requiresShipping: body.requires_shipping ?? body.type !== 'VIRTUAL_PRODUCT',
    options: body.options ?? [],
    variants,
  }
}

/** Throws `unprocessable` when the workspace has switched the status off (spec: Create rules 4; OP-13). */
export function refuseUnsupportedStatus(status: ProductStatus | undefined, supported: readonly ProductStatus[]): void {
  if (status === undefined || supported.includes(status)) return
  throw unprocessable(`status: this workspace does not use ${status}; it uses ${supported.join(', ')}`)
}

function planDefaultVariant(body: CreateProductBody): PlannedVariant {
  for (const member of ['options', 'variants'] as const) {
    if (body[member] !== undefined) {
      throw unprocessable(`${member}: a ${body.type} has one default variant; send it only for a VARIABLE_PRODUCT`)
    }
  }
  const { sku, stock } = body
  if (sku === undefined) throw badRequest(`sku: is required for a ${body.type}`)
  if (stock === undefined) throw badRequest(`stock: is required for a ${body.type}`)
  return { skuPath: 'sku', sku, stock, price: body.price ?? {}, cost: body.cost ?? {}, attributes: new Map() }
}

function planVariants(body: CreateProductBody): PlannedVariant[] {
  const { options, variants } = body
  if (options === undefined) throw badRequest('options: is required for a VARIABLE_PRODUCT')
  if (variants === undefined) throw badRequest('variants: is required for a VARIABLE_PRODUCT')
  for (const member of PER_VARIANT) {
    if (body[member] !== undefined) {
      throw unprocessable(`${member}: belongs on each variant of a VARIABLE_PRODUCT: variants[0].${member}`)
    }
  }
  const valuesByOption = indexOptions(options)
  const planned = variants.map((variant, index) => ({
    skuPath: `variants[${index}].sku`,
    sku: variant.sku,
    stock: variant.stock,
    price: variant.price ?? {},
    cost: variant.cost ?? {},
    attributes: planAttributes(variant.attributes, valuesByOption, `variants[${index}].attributes`),
  }))
  refuseTwice(
    planned,
    (variant) => variant.sku,
    (index) => `variants[${index}].sku`,
  )
  refuseTwice(
    planned,
    (variant) => JSON.stringify(options.map(({ name }) => variant.attributes.get(name))),
    (index) => `variants[${index}].attributes`,
  )
  return planned
}

function indexOptions(options: readonly PlannedOption[]): Map<string, Set<string>> {
  refuseTwice(
    options,
    (option) => option.name,
    (index) => `options[${index}].name`,
  )
  options.forEach(({ values }, index) => {
    refuseTwice(
      values,
      (value) => value,
      (position) => `options[${index}].values[${position}]`,
    )
  })
  return new Map(options.map(({ name, values }) => [name, new Set(values)]))
}

/** One value per option, no more and no fewer (Create rule 2). */
function planAttributes(
  attributes: Record<string, string>,
  valuesByOption: Map<string, Set<string>>,
  path: string,
): Map<string, string> {
  const chosen = new Map(Object.entries(attributes))
  for (const [name, value] of chosen) {
    const values = valuesByOption.get(name)
    if (values === undefined) throw unprocessable(`${path}.${name}: the product has no such option`)
    if (!values.has(value)) throw unprocessable(`${path}.${name}: "${value}" is not one of the option's values`)
  }
  for (const name of valuesByOption.keys()) {
    if (!chosen.has(name)) throw unprocessable(`${path}: needs a value for the option "${name}"`)
  }
  return chosen
}

function refuseTwice<Item>(items: readonly Item[], keyOf: (item: Item) => string, pathOf: (index: number) => string) {
  const firstIndex = new Map<string, number>()
  items.forEach((item, index) => {
    const earlier = firstIndex.get(keyOf(item))
    if (earlier !== undefined) throw unprocessable(`${pathOf(index)}: is the same as ${pathOf(earlier)}`)
    firstIndex.set(keyOf(item), index)
  })
}
