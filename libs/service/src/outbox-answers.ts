import { Timestamp } from '@backoffice/contracts/fields.ts'
import { z } from 'zod'

/** Rows of an outbox are numbered. */
export const RowId = z.string().regex(/^\d{1,18}$/, 'must be the id of a row: a number')

/** The rows of an outbox that are not published, each number counted up to ten thousand (`backlog`). */
export const OutboxState = z.strictObject({
  waiting: z.int(),
  oldest_seconds: z.int(),
  held: z.int(),
  refused: z.int(),
  /** Those with the most of the rows that wait. */
  workspaces: z.array(z.strictObject({ workspace: z.string(), rows: z.int() })),
})

/** A row that was refused or is held. */
const RefusedRow = z.strictObject({
  id: RowId,
  at: Timestamp,
  topic: z.string(),
  type: z.string(),
  key: z.string(),
  workspace: z.string(),
  /** When the relay tries it again by itself. */
  retry_at: Timestamp.nullable(),
  /** Whether a later record of its key was published. */
  overtaken: z.boolean(),
  reason: z.string(),
})

export const RefusedRowPage = z.strictObject({ items: z.array(RefusedRow), has_next_page: z.boolean() })

/** The rows to send again; without ids all that no later record of their key has overtaken. */
export const RefusedRowIds = z.strictObject({ ids: z.array(RowId).min(1).max(1000).optional() }).prefault({})

export const Resent = z.strictObject({ resent: z.int() })
