import { badRequest, type MemberPath } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

/** The lines of a reservation; a variant may be on several lines. */
export const WantedLines = z
  .array(z.strictObject({ variant: Id, quantity: z.int().min(1) }))
  .min(1)
  .max(LIMITS.idsPerCall)

/** The quantity of one variant that a reservation has taken, with the variant's SKU at that time. */
export const TakenLine = z.strictObject({ variant: Id, product: Id, sku: z.string(), quantity: z.int().min(1) })
export type TakenLine = z.output<typeof TakenLine>

/** The quantity of a variant in all lines of a reservation; `path` leads to the first of them, as `['lines', 2]`. */
export interface SummedLine {
  readonly variant: string
  readonly quantity: number
  readonly path: MemberPath
}

/** Sums lines per variant, in order of variants' ids. Throws `bad_request` for a sum beyond 2^53−1 (OP-07). */
export function sumLines(lines: z.output<typeof WantedLines>): SummedLine[] {
  const sums = new Map<string, SummedLine>()
  for (const [index, { variant, quantity: more }] of lines.entries()) {
    const { path, quantity: before } = sums.get(variant) ?? { path: ['lines', index], quantity: 0 }
    const quantity = before + more
    if (!Number.isSafeInteger(quantity)) {
      throw badRequest(
        ['lines', index, 'quantity'],
        `makes more than ${Number.MAX_SAFE_INTEGER} of variant ${variant}; order less`,
      )
    }
    sums.set(variant, { variant, quantity, path })
  }
  return [...sums.values()].sort((a, b) => (a.variant < b.variant ? -1 : 1))
}

/** Whether both have the same variants with the same quantities. Both are in the order of the variants' ids. */
export const haveSameLines = (wanted: readonly SummedLine[], taken: readonly TakenLine[]): boolean =>
  wanted.length === taken.length &&
  wanted.every(({ variant, quantity }, index) => {
    const line = taken[index]
    return line?.variant === variant && line.quantity === quantity
  })

/** What a reservation has taken, or had taken before it was released. Call it only for one that is there. */
export async function readReservation(tx: Transaction, reservation: string) {
  const [found] = await tx<[{ state: 'TAKEN' | 'RELEASED'; lines: TakenLine[] }]>`
    select state, lines from stock_reservation
    where workspace_id = ${tx.context.workspaceId} and order_id = ${reservation}`
  return found
}
