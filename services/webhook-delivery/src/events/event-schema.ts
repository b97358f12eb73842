import { TOPICS } from '@backoffice/contracts/events.ts'
import type { RecordSchema } from '@backoffice/messaging/consumers/received-records.ts'
import { ReadEvent } from './matching.ts'
import { platformEvent } from './platform-event.ts'

/** The consumer group that turns events into deliveries. */
export const FAN_OUT = 'webhook-delivery.fan-out'

/** The shape in which the fan-out reads each topic's events: those from outside this repository are held to the catalogue (OP-58). */
export function readEventSchema(clock: () => Date): RecordSchema<ReadEvent> {
  const PlatformEvent = platformEvent(clock)
  return (topic) => (topic === TOPICS.platformEvents ? PlatformEvent : ReadEvent)
}
