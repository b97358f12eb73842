import { z } from 'zod'
import { namedObject } from './named.ts'

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

/** GET /internal/failures, of webhook-delivery: the days on which deliveries became FAILED. */
export const WebhookFailures = z.strictObject({
  days: z.array(z.strictObject({ day: z.iso.date(), failures: z.int() })),
})

/** From a day on, and before another. */
export const Days = z.strictObject({ since: z.iso.date(), until: z.iso.date() })

/** For how many days counts are kept, today among them. */
export const KEPT_DAYS = 90

/** A limit of a workspace, and how much of it is used; `used` is null where nobody counts it (OP-297). */
const Limit = namedObject(
  'Limit',
  { name: z.string(), used: z.int().nullable(), most: z.int() },
  { name: 'webhook_endpoints', used: 2, most: 500 },
)

/** GET /internal/limits, of the services that have some. */
export const ServiceLimits = z.strictObject({ limits: z.array(Limit) })

/** All limits of a workspace; `unanswered` names the services that do not tell theirs now. */
export const Limits = namedObject(
  'Limits',
  { limits: z.array(Limit), unanswered: z.array(z.string()) },
  { limits: [{ name: 'webhook_endpoints', used: 2, most: 500 }], unanswered: [] },
)
