import { unprocessable } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { OutboxRecord } from '@backoffice/postgres/outbox.ts'

/** For the members around a record's data, its key and its headers. */
const AROUND_BYTES = 16 * 1024
const MAX_BYTES = LIMITS.recordBytes - AROUND_BYTES
/** Fewer variants stay below the limit, whatever they hold. */
const MANY_VARIANTS = 100

/**
 * Refuses a product whose records its topics would not take: `unprocessable`, with the size (OP-120). Otherwise nobody beyond catalog would
 * hear of the product again. Few products have so many variants, so the others are not measured.
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
