import { EVENT_TYPES } from '@backoffice/contracts/events.ts'
import { Description, Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
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
  .describe('Names from `GET /v1/webhooks/event-types`, or `["*"]`: every event there is and will be.')

/** An endpoint's body (OP-60, OP-62). Its secrets are no part of it. */
export const Endpoint = z.strictObject({
  id: Id,
  url: z.string(),
  enabled_events: z.array(z.string()),
  description: Description.nullable(),
  standard_signature: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

/** An endpoint as creating it and rotating its secret answer it: the only answers with the secret. */
export const EndpointWithSecret = z.strictObject({ ...Endpoint.shape, secret: z.string() })

/** What of an endpoint's row its body is made of. */
export interface EndpointRow {
  id: string
  url: string
  enabled_events: string[]
  description: string | null
  standard_signature: boolean
  created_at: Date
  updated_at: Date
}

export const endpointView = (row: EndpointRow): z.output<typeof Endpoint> => ({
  id: row.id,
  url: row.url,
  enabled_events: row.enabled_events,
  description: row.description,
  standard_signature: row.standard_signature,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** The columns of an EndpointRow. */
export const endpointColumns = (tx: Transaction) => tx`
  id, url, enabled_events, description, standard_signature, created_at, updated_at`
