import { EVENT_TYPES } from '@backoffice/contracts/events.ts'
import { Description, Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { z } from 'zod'

/** Subscribes to every event there is and will be (spec: Subscription). */
export const ALL_EVENTS = '*'

const names = new Set(EVENT_TYPES)

/** The events an endpoint asks for: `["*"]`, or names from the list of event types, each kept once. */
export const EnabledEvents = z
  .array(
    z
      .string()
      .refine(
        (name) => name === ALL_EVENTS || names.has(name),
        'is not an event type: see GET /v1/webhooks/event-types',
      ),
  )
  .min(1)
  .max(LIMITS.idsPerCall)
  .transform((events) => [...new Set(events)])
  .refine((events) => events.length === 1 || !events.includes(ALL_EVENTS), '"*" stands alone: it is every event')

/** An endpoint's body (OP-60). */
export const Endpoint = z.strictObject({
  id: Id,
  url: z.string(),
  enabled_events: z.array(z.string()),
  description: Description.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

/** What of an endpoint's row its body is made of. */
export interface EndpointRow {
  id: string
  url: string
  enabled_events: string[]
  description: string | null
  created_at: Date
  updated_at: Date
}

export const endpointView = (row: EndpointRow): z.output<typeof Endpoint> => ({
  id: row.id,
  url: row.url,
  enabled_events: row.enabled_events,
  description: row.description,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
