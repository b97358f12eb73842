import { EVENT_CATALOGUE, TOPICS } from '@backoffice/contracts/events.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { RecordSchema } from '@backoffice/messaging/consumers/received-records.ts'
import { z } from 'zod'
import { ReadEvent } from './matching.ts'

const HOUR_MS = 60 * 60 * 1000
/** More than clocks and time zones differ: by `timestamp` receivers would take later changes for older ones. */
const MAX_AHEAD_MS = 24 * HOUR_MS
/** More than any backlog: the topic keeps a week. */
const MAX_BACK_MS = 30 * 24 * HOUR_MS

interface Problem {
  readonly path: PropertyKey[]
  readonly message: string
}

/** The shape in which the fan-out reads each topic's events; those from outside fit the catalogue (OP-58). */
export function readEventSchema(clock: () => Date): RecordSchema<ReadEvent> {
  const PlatformEvent = platformEvent(clock)
  return (topic) => (topic === TOPICS.platformEvents ? PlatformEvent : ReadEvent)
}

/** An event from outside (topic `platform.events`), which no relay has checked against the catalogue (OP-58). */
export const platformEvent = (clock: () => Date): z.ZodType<ReadEvent> =>
  ReadEvent.pipe(
    z.custom<ReadEvent>().superRefine((event, context) => {
      for (const { path, message } of problemsOf(event, clock())) context.addIssue({ code: 'custom', path, message })
    }),
  )

function problemsOf(event: ReadEvent, now: Date): readonly Problem[] {
  const known = EVENT_CATALOGUE.get(event.type)
  if (known?.topic !== TOPICS.platformEvents) return [{ path: ['type'], message: refusalOf(event.type, known?.topic) }]
  const shape = known.record.safeParse(event).error?.issues.map(({ path, message }) => ({ path, message })) ?? []
  return [...shape, ...timeProblems(event, now), ...valueProblems(event.data, ['data'])]
}

const refusalOf = (type: string, topic: string | undefined): string =>
  topic === undefined ? `${JSON.stringify(type)} is no event of the catalogue` : `${type} is published to ${topic}`

function timeProblems({ occurred_at }: ReadEvent, now: Date): Problem[] {
  const ahead = Date.parse(occurred_at) - now.getTime()
  if (ahead > MAX_AHEAD_MS) return [{ path: ['occurred_at'], message: 'lies more than a day ahead' }]
  if (-ahead > MAX_BACK_MS) return [{ path: ['occurred_at'], message: 'lies more than 30 days back' }]
  return []
}

/** What reading or writing JSON changes: numbers beyond 2^53−1 and values that nest without end (OP-07). */
function* valueProblems(value: unknown, path: PropertyKey[]): Generator<Problem> {
  if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    yield { path, message: 'is a number beyond ±(2^53−1)' }
  }
  if (typeof value !== 'object' || value === null) return
  if (path.length > LIMITS.jsonDepth) {
    yield { path, message: `nests deeper than ${LIMITS.jsonDepth} levels` }
    return
  }
  for (const [name, member] of Object.entries(value)) {
    yield* valueProblems(member, [...path, Array.isArray(value) ? Number(name) : name])
  }
}
