import { badRequest } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { z } from 'zod'

/** What an order wants, line by line; a variant may be on several lines. */
export const WantedLines = z
  .array(z.strictObject({ variant: Id, quantity: z.int().min(1) }))
  .min(1)
  .max(LIMITS.idsPerCall)

/** What an order has taken of one variant, with the SKU it had then. */
export const TakenLine = z.strictObject({ variant: Id, product: Id, sku: z.string(), quantity: z.int().min(1) })
export type TakenLine = z.output<typeof TakenLine>

/** What an order wants of one variant; `path` is the first line that wants it, as `lines[2]`. */
export interface SummedLine {
  readonly variant: string
  readonly quantity: number
  readonly path: string
}

/** Sums lines per variant, in the order of the variants' ids. Throws `bad_request` when a sum exceeds 2^53−1 (OP-07). */
export function sumLines(lines: z.output<typeof WantedLines>): SummedLine[] {
  const sums = new Map<string, SummedLine>()
  for (const [index, { variant, quantity: more }] of lines.entries()) {
    const { path, quantity: before } = sums.get(variant) ?? { path: `lines[${index}]`, quantity: 0 }
    const quantity = before + more
    if (!Number.isSafeInteger(quantity)) {
      throw badRequest(`lines[${index}].quantity: makes more than ${Number.MAX_SAFE_INTEGER} of variant ${variant}`)
    }
    sums.set(variant, { variant, quantity, path })
  }
  return [...sums.values()].sort((a, b) => (a.variant < b.variant ? -1 : 1))
}

/** Whether both name the same variants, each with the same quantity; both are in the order of the variants' ids. */
export const isSame = (wanted: readonly SummedLine[], taken: readonly TakenLine[]): boolean =>
  wanted.length === taken.length &&
  wanted.every(({ variant, quantity }, index) => {
    const line = taken[index]
    return line?.variant === variant && line.quantity === quantity
  })
