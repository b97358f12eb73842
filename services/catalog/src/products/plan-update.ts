import { isDeepStrictEqual } from 'node:util'
import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { MoneyMap } from '@backoffice/contracts/fields.ts'
import { v7 as uuidv7 } from 'uuid'
import { PER_VARIANT } from './plan-product.ts'
import type { UpdateProductBody } from './product-input.ts'
import type { ProductRecord, VariantRecord } from './product-view.ts'

/** What the product refers to after the update, resolved; taken where the request names it. */
type ResolvedReferences = Pick<ProductRecord, 'categories' | 'tags' | 'media'>

const isVariable = ({ type }: Pick<ProductRecord, 'type'>) => type === 'VARIABLE_PRODUCT'

/**
 * The product as the request wants it, one version on (spec: Update rules 1–7; type switch OP-16). Throws `unprocessable`
 * when members do not fit the type.
 */
export function planUpdate(
  current: ProductRecord,
  body: UpdateProductBody,
  now: Date,
  references: ResolvedReferences,
): ProductRecord {
  const type = body.type ?? current.type
  const isSwitched = isVariable({ type }) !== isVariable(current)
  return {
    ...current,
    type,
    name: body.name ?? current.name,
    slug: body.slug ?? current.slug,
    status: body.status ?? current.status,
    description: sent(body.description, current.description),
    requiresShipping: body.requires_shipping ?? current.requiresShipping,
    canPreorder: body.can_preorder ?? current.canPreorder,
    preorderStopsAt: sent(asDate(body.preorder_stops_at), current.preorderStopsAt),
    maxCartQuantity: sent(body.max_cart_quantity, current.maxCartQuantity),
    lowStockThreshold: sent(body.low_stock_threshold, current.lowStockThreshold),
    purchaseNote: sent(body.purchase_note, current.purchaseNote),
    taxClass: sent(body.tax_class, current.taxClass),
    categories:
      body.categories === undefined && body.category === undefined ? current.categories : references.categories,
    tags: body.tags === undefined ? current.tags : references.tags,
    media: references.media,
    options: isSwitched ? [] : current.options,
    variants: isVariable({ type }) ? variantsOfVariable(current, body) : [defaultVariant(current, body)],
    ...oneChangeOn(current, now),
  }
}

/** What each change of a product does to it: requests are told the time before they queue for it, so that may not advance. */
export const oneChangeOn = ({ version, updatedAt }: ProductRecord, now: Date) => ({
  version: version + 1,
  updatedAt: now > updatedAt ? now : updatedAt,
})

/** Whether the update changes nothing, and therefore writes and fires nothing (OP-73). */
export function isUnchanged(current: ProductRecord, next: ProductRecord): boolean {
  return isDeepStrictEqual({ ...next, version: current.version, updatedAt: current.updatedAt }, { ...current })
}

/** A member that null unsets (OP-09). */
const sent = <Value>(value: Value | undefined, current: Value): Value => (value === undefined ? current : value)

const asDate = (value: string | null | undefined) => (typeof value === 'string' ? new Date(value) : value)

/** A product that becomes variable gets its variants through the variant endpoints (OP-16; spec: Update rules 7). */
function variantsOfVariable(current: ProductRecord, body: UpdateProductBody): VariantRecord[] {
  for (const member of PER_VARIANT) {
    if (body[member] === undefined) continue
    throw unprocessable(
      `${member}: belongs on each variant of a VARIABLE_PRODUCT: send it to /v1/products/${current.id}/variants`,
    )
  }
  return isVariable(current) ? current.variants : []
}

/** The default variant: as it is, or made of the first variant when the product was variable (OP-16), with what is sent. */
function defaultVariant(current: ProductRecord, body: UpdateProductBody): VariantRecord {
  const [first] = current.variants
  const id = isVariable(current) || first === undefined ? uuidv7() : first.id
  const sku = body.sku ?? first?.sku
  const stock = body.stock ?? first?.stock
  if (sku === undefined) throw missing('sku')
  if (stock === undefined) throw missing('stock')
  const price = moneyOf(body.price, first?.price)
  const cost = moneyOf(body.cost, first?.cost)
  return { id, sku, stock, price, cost, attributes: {} }
}

const moneyOf = (value: MoneyMap | null | undefined, current: MoneyMap = {}): MoneyMap =>
  value === undefined ? current : (value ?? {})

const missing = (member: string) => unprocessable(`${member}: is required: the product has no variant to take it from`)
