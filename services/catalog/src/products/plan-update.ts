import { isDeepStrictEqual } from 'node:util'
import { unprocessable } from '@backoffice/contracts/errors.ts'
import { PRODUCT, VARIANT } from '@backoffice/contracts/product.ts'
import { laterThan } from '@backoffice/postgres/outbox.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { ResolvedReferences } from './chosen-references.ts'
import { perVariantMemberIn, type UpdateProductBody } from './product-input.ts'
import type { ProductRecord, VariantRecord } from './product-view.ts'

const isVariable = ({ type }: Pick<ProductRecord, 'type'>) => type === 'VARIABLE_PRODUCT'

/**
 * The product as the request wants it, one version on (spec: Update rules 1–7; type switch OP-16). Throws
 * `unprocessable` when members do not fit the type.
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
    ...withMembers(current, body, references),
    options: isSwitched ? [] : current.options,
    variants: isVariable({ type }) ? variantsOfVariable(current, body) : [defaultVariant(current, body)],
    ...oneChangeOn(current, now),
  }
}

/**
 * The product with the members that a create and an update set alike, and its references where they are named. A member
 * that is not sent stays, null unsets (OP-09).
 */
export const withMembers = (
  before: ProductRecord,
  body: Omit<UpdateProductBody, 'type' | 'slug'>,
  references: ResolvedReferences,
): ProductRecord => ({
  ...PRODUCT.changed(before, body),
  categories: body.categories === undefined && body.category === undefined ? before.categories : references.categories,
  tags: body.tags === undefined ? before.tags : references.tags,
  media: references.media,
})

/** The version and time after a change. The time also tells a change of what the body does not show (OP-266). */
export const oneChangeOn = ({ version, updatedAt }: ProductRecord, now: Date) => ({
  version: version + 1,
  updatedAt: laterThan(updatedAt, now),
})

/** Whether a change changes nothing: then nothing is written and nothing fires (OP-73). */
export function isUnchanged(current: ProductRecord, next: ProductRecord): boolean {
  return isDeepStrictEqual({ ...next, version: current.version, updatedAt: current.updatedAt }, { ...current })
}

/** A product that becomes variable gets its variants through the variant endpoints (OP-16; spec: Update rules 7). */
function variantsOfVariable(current: ProductRecord, body: UpdateProductBody): VariantRecord[] {
  const member = perVariantMemberIn(body)
  if (member !== undefined) {
    throw unprocessable(
      [member],
      `belongs on each variant of a VARIABLE_PRODUCT: send it to /v1/products/${current.id}/variants`,
    )
  }
  return isVariable(current) ? current.variants : []
}

/** The default variant: as it is, or the first one when the product was variable (OP-16), with what is sent. */
function defaultVariant(current: ProductRecord, body: UpdateProductBody): VariantRecord {
  refuseEmptyAmounts(body)
  const [first] = current.variants
  const id = isVariable(current) || first === undefined ? newId() : first.id
  const sku = body.sku ?? first?.sku
  const stock = body.stock ?? first?.stock
  if (sku === undefined) throw missing('sku')
  if (stock === undefined) throw missing('stock')
  return VARIANT.changed({ ...VARIANT.initial, ...first, id, sku, stock, attributes: {} }, body)
}

const missing = (member: string) => unprocessable([member], 'is required: the product has no variant to take it from')

/** Clients that know no unset map send an empty one, and would remove amounts that nobody named (OP-244). */
export function refuseEmptyAmounts(sent: Pick<UpdateProductBody, 'price' | 'cost'>): void {
  for (const member of ['price', 'cost'] as const) {
    const amounts = sent[member]
    if (amounts && Object.keys(amounts).length === 0) {
      throw unprocessable([member], 'names no currency; leave it out to keep the amounts, or send null to remove them')
    }
  }
}
