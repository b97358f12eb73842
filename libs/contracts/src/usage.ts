import { z } from 'zod'

/*
 * What services tell the gateway of a workspace's use of them (OP-272).
 */

/** GET /internal/stored-bytes, of catalog and of imports. */
export const StoredBytes = z.strictObject({ bytes: z.int() })

/** GET /internal/usage, of webhook-delivery: the endpoints now, and the days on which something was made. */
export const WebhookUsage = z.strictObject({
  endpoints: z.int(),
  days: z.array(z.strictObject({ day: z.iso.date(), events: z.int(), deliveries: z.int() })),
})

/** From a day on, and before another. */
export const Days = z.strictObject({ since: z.iso.date(), until: z.iso.date() })

/** For how many days counts are kept, today among them. */
export const KEPT_DAYS = 90
