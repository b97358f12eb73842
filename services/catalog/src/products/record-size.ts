import { unprocessable } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { OutboxRecord } from '@backoffice/postgres/outbox.ts'

/** The bytes for a record's key, its headers and the members around its data. */
const AROUND_BYTES = 16 * 1024
const MAX_BYTES = LIMITS.recordBytes - AROUND_BYTES
/** A product with at most so many variants is always below the limit. */
const MANY_VARIANTS = 100

/**
 * Refuses a product whose records are too large for their topics: `unprocessable`, with the size (OP-120). Otherwise
 * its state could never be published again. Products with few variants are not measured.
 */
export function refuseTooLarge(variants: number, records: readonly OutboxRecord[]): void {
  if (variants <= MANY_VARIANTS) return
  const bytes = Math.max(...records.map(({ data }) => Buffer.byteLength(JSON.stringify(data))))
  if (bytes <= MAX_BYTES) return
  throw unprocessable(
    [],
    `the product would have ${bytes} bytes as a record, ${bytes - MAX_BYTES} more than it may have; use fewer variants, fewer currencies or shorter texts`,
  )
}
