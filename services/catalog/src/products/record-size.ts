import { unprocessable } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { OutboxRecord } from '@backoffice/postgres/outbox.ts'
import type { ProductRecord } from './product-view.ts'

/** The bytes for a record's key, its headers and the members around its data. */
const AROUND_BYTES = 16 * 1024
const MAX_BYTES = LIMITS.recordBytes - AROUND_BYTES
/** A product of at most so many parts is always below the limit. */
const MANY_PARTS = 100

/** What a product may have without end: variants, the values that they choose, and the values of its options. */
const partsOf = ({ variants, options }: ProductRecord): number =>
  variants.length * (1 + options.length) + options.reduce((sum, { values }) => sum + values.length, 0)

/**
 * Refuses products whose records are too large for their topics: `unprocessable`, with the size (OP-120). Otherwise
 * their state could never be published again. Products of few parts are not measured.
 */
export function refuseTooLarge(products: readonly ProductRecord[], records: readonly OutboxRecord[]): void {
  if (products.every((product) => partsOf(product) <= MANY_PARTS)) return
  const bytes = Math.max(...records.map(({ data }) => Buffer.byteLength(JSON.stringify(data))))
  if (bytes <= MAX_BYTES) return
  throw unprocessable(
    [],
    `the product would have ${bytes} bytes as a record, ${bytes - MAX_BYTES} more than it may have; use fewer variants, options or currencies, or shorter texts`,
  )
}
