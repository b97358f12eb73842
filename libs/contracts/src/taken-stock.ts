import { z } from 'zod'
import { Id } from './fields.ts'

/** Where a page of reservations ends: they are in the order of workspaces and ids. */
export const TakenPlace = z.strictObject({ workspace: Id, reservation: Id })
export type TakenPlace = z.output<typeof TakenPlace>

/** A page of the stock that orders hold at catalog: the answer of `GET /internal/stock/taken`. */
export const TakenPage = z.strictObject({
  /** `lines` is `[[variant, quantity], …]` in the order of variants. */
  items: z.array(TakenPlace.extend({ lines: z.string() })),
  has_next_page: z.boolean(),
})
export type TakenPage = z.output<typeof TakenPage>
