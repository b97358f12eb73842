import type { z } from 'zod'
import { EVENT_TOPICS, RECORDS, type Topic } from './events.ts'

/** An event as it is published. */
export interface CataloguedEvent {
  readonly topic: Topic
  /** The shape of its record, `data` included. */
  readonly record: z.ZodType
}

/** Every event that something publishes, by its name: it is complete once each name of EVENT_TYPES is here. */
export const EVENT_CATALOGUE: ReadonlyMap<string, CataloguedEvent> = new Map(
  EVENT_TOPICS.flatMap((topic) =>
    Object.entries<z.ZodType>(RECORDS[topic]).map(([type, record]) => [type, { topic, record }]),
  ),
)
