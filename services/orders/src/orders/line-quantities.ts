import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { ItemRecord } from './order.ts'

/** A quantity of a line of an order. */
export type LineQuantity = Pick<ItemRecord, 'id' | 'quantity'>

type Line = Pick<ItemRecord, 'id' | 'quantity' | 'fulfilled'>

/** What of a line is neither fulfilled nor given up. */
export const openQuantity = ({ quantity, fulfilled }: Line): number => quantity - fulfilled

/**
 * What a request takes of each line: the sum of what it wants, or all there is without `wanted`. Throws `unprocessable`
 * for an unknown line, and for more than there is, which `purpose` tells: "left to fulfil".
 */
export function takenOf(
  lines: readonly Line[],
  wanted: readonly LineQuantity[] | null | undefined,
  thereIs: (line: Line) => number,
  purpose: string,
): Map<string, number> {
  const available = new Map(lines.map((line) => [line.id, thereIs(line)]))
  if (wanted == null) return available
  const sums = new Map<string, number>()
  for (const [index, { id, quantity }] of wanted.entries()) {
    const most = available.get(id)
    if (most === undefined)
      throw unprocessable(
        ['items', index, 'id'],
        `the order has no item ${id}; send the id of one of its items`,
        'unknown_reference',
      )
    const sum = (sums.get(id) ?? 0) + quantity
    if (sum > most)
      throw unprocessable(
        ['items', index, 'quantity'],
        `only ${most} of this item is ${purpose}; ${most > 0 ? `send ${most} at most` : 'leave it out'}`,
      )
    sums.set(id, sum)
  }
  return sums
}

/** The quantities that are taken, in the order of the lines. */
export const takenLines = (lines: readonly Line[], taken: ReadonlyMap<string, number>): LineQuantity[] =>
  lines.map(({ id }) => ({ id, quantity: taken.get(id) ?? 0 })).filter(({ quantity }) => quantity > 0)
