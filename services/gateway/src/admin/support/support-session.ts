import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { z } from 'zod'

/** A session of support without its token. */
export const SupportSession = z.strictObject({
  id: Id,
  workspace: Id,
  operator: z.string(),
  reason: z.string().nullable(),
  created_at: Timestamp,
  expires_at: Timestamp,
  ended_at: Timestamp.nullable(),
})

/** The answer to its opening: the only one that shows `token`. */
export const OpenedSession = SupportSession.extend({ livemode: z.boolean(), token: z.string() })
export type OpenedSession = z.output<typeof OpenedSession>

/** How long a session lasts, unless it is ended. */
export const SESSION_MINUTES = 30
