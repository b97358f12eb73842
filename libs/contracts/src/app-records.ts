import { z } from 'zod'

/** The workspace of acts and requests that concern the whole platform: the nil UUID. */
export const PLATFORM = '00000000-0000-0000-0000-000000000000'

/**
 * The data of act.recorded, for the gateway's audit log. `actor` is an operator's name, `merchant`, or `apps` for what
 * the service does by itself; `target` is a path under /admin/v1. About no workspace: the nil UUID.
 */
export const RecordedAct = z.strictObject({
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  request_id: z.string(),
})
