import { type MemberPath, unprocessable } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { VARIANT } from '@backoffice/contracts/product.ts'
import { type ProductRecord, productBody, productState } from './product-view.ts'

/** The bytes for a record's key, its headers, the members around its data, and the range of its prices. */
const AROUND_BYTES = 32 * 1024
const MAX_BYTES = LIMITS.recordBytes - AROUND_BYTES
/** A product of at most so many parts is always below the limit. */
const MANY_PARTS = 100
/** A category with the longest names: a rename of it, or of its parent, is refused by no product. */
const CATEGORY_BYTES = 3300
/** A variant's stock with the most digits: orders move it, and are refused by no product. */
const STOCK = Number.MIN_SAFE_INTEGER

/** What a product may have without end: variants, the values that they choose, and the values of its options. */
const partsOf = ({ variants, options }: ProductRecord): number =>
  variants.length * (1 + options.length) + options.reduce((sum, { values }) => sum + values.length, 0)

/** Whether a product has so many parts that it has to be measured. */
export const hasManyParts = (product: ProductRecord): boolean => partsOf(product) > MANY_PARTS

/**
 * Returns the function that refuses a product whose record would be too large for its topics, and else returns it:
 * otherwise its state could never be published again. Throws `unprocessable` with the size (OP-120). One that is too
 * large already may get smaller, and change while its record fits as it is. Keep the function for the changes of one
 * product: it measures each part once.
 */
export function recordLimit(path: MemberPath = []) {
  const bytesOf = productMeasure()
  return (after: ProductRecord, before?: ProductRecord): ProductRecord => {
    if (!hasManyParts(after)) return after
    const bytes = bytesOf(after)
    if (bytes <= MAX_BYTES || (before !== undefined && mayStay(bytes, after, bytesOf(before)))) return after
    throw unprocessable(
      path,
      `the product would have up to ${bytes} bytes as a record, ${bytes - MAX_BYTES} more than it may have; use fewer variants, options, categories or currencies, or shorter texts`,
    )
  }
}

const mayStay = (bytes: number, after: ProductRecord, bytesBefore: number): boolean =>
  bytes < bytesBefore || (bytesBefore > MAX_BYTES && jsonBytes(productState(after, productBody(after))) <= MAX_BYTES)

/** The bytes that the state of a product may get, which has all that its events have. */
export function productMeasure(): (product: ProductRecord) => number {
  const known = new Map<unknown, number>()
  const bytesOf = <Part>(part: Part, shown: (part: Part) => unknown = (same) => same): number => {
    const bytes = known.get(part) ?? jsonBytes(shown(part))
    known.set(part, bytes)
    return bytes
  }
  const sum = <Part>(parts: readonly Part[], bytes: (part: Part) => number) =>
    parts.reduce((total, part) => total + bytes(part) + 1, 0)
  return (product) => {
    const { variants, options, tags, categories } = product
    const rest = { ...product, variants: [], options: [], tags: [], categories: [] }
    return (
      jsonBytes(productState(rest, productBody(rest))) +
      (1 + categories.length) * CATEGORY_BYTES +
      sum(tags, bytesOf) +
      sum(options, ({ values, ...option }) => jsonBytes({ ...option, values: [] }) + sum(values, bytesOf)) +
      sum(variants, (variant) => bytesOf(variant, () => VARIANT.stateOf({ ...variant, stock: STOCK })))
    )
  }
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
