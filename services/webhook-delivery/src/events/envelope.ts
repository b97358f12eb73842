import type { EventRecord } from '@backoffice/contracts/events.ts'

/** The body of an event's deliveries (OP-61): made once, then stored, signed and sent as it is. */
export const envelopeOf = ({ id, type, occurred_at, livemode, data }: EventRecord): string =>
  JSON.stringify({ id, type, timestamp: occurred_at, livemode, data })
