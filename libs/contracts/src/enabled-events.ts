import { z } from 'zod'
import { EVENT_TYPES } from './events.ts'
import { LIMITS } from './limits.ts'

/** Subscribes to every event, also to event types added later (spec: Subscription). */
export const ALL_EVENTS = '*'

const names = new Set(EVENT_TYPES)
const NO_EVENT_TYPE = 'is not an event type: see GET /v1/webhooks/event-types'

/** The name of an event that endpoints can subscribe to. */
export const EventType = z
  .string()
  .refine((name) => names.has(name), NO_EVENT_TYPE)
  .meta({ examples: ['order.paid'] })

/** The events of a subscription: `["*"]`, or names from the list of event types. Repeated names are dropped. */
export const EnabledEvents = z
  .array(z.string().refine((name) => name === ALL_EVENTS || names.has(name), NO_EVENT_TYPE))
  .min(1)
  .max(LIMITS.idsPerCall)
  .transform((events) => [...new Set(events)])
  .refine((events) => events.length === 1 || !events.includes(ALL_EVENTS), '"*" stands alone: it is every event')
  .describe('Names from `GET /v1/webhooks/event-types`, or `["*"]`: every event there is and will be.')
