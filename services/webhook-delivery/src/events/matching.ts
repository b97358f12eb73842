import { EventRecord } from '@backoffice/contracts/events.ts'
import { spanContextFrom } from '@backoffice/runtime/trace-context.ts'
import { z } from 'zod'
import type { Target, Targets } from '../endpoints/targets.ts'
import { bodyBytes } from '../sending/body-bytes.ts'

/** How far the clocks of two machines may be apart, in milliseconds. */
const CLOCK_TOLERANCE_MS = 10_000

/** An event record without the members that this service does not know. */
export const ReadEvent = z.object(EventRecord.shape)
export type ReadEvent = z.output<typeof ReadEvent>

/** An event from Kafka. Events with the same key keep their order; '' means no order. */
export interface Incoming {
  readonly key: string
  readonly value: ReadEvent
  readonly traceparent?: string | undefined
}

/** An event that at least one endpoint gets. */
export interface MatchedEvent {
  readonly workspaceId: string
  readonly id: string
  readonly type: string
  readonly key: string
  readonly occurredAt: Date
  /** The traceparent of the event's record. */
  readonly traceparent: string | null
  readonly body: string
  /** The body as it is signed and sent, shared by all its deliveries. */
  readonly bytes: Buffer
  readonly targets: readonly Target[]
}

/** The events that have endpoints to go to, in their order. An event without any costs a look into a map. */
export function matchEvents(
  incoming: readonly Incoming[],
  workspaces: ReadonlyMap<string, Targets>,
): readonly MatchedEvent[] {
  return incoming.flatMap(({ key, value, traceparent: came }) => {
    const workspace = workspaces.get(value.workspace_id)
    if (workspace === undefined) return []
    const occurredAt = new Date(value.occurred_at)
    const targets = workspace.subscribedTo(value.type).filter((target) => wasThereAt(occurredAt, target))
    if (targets.length === 0) return []
    const { workspace_id: workspaceId, id, type } = value
    const traceparent = came !== undefined && spanContextFrom(came) ? came : null
    const body = envelopeOf(value)
    return [{ workspaceId, id, type, key: key || id, occurredAt, traceparent, body, bytes: bodyBytes(body), targets }]
  })
}

/** Clocks differ, so an endpoint up to 10 s younger than the event gets it too: rather one too many (OP-78). */
const wasThereAt = (occurredAt: Date, { createdAt }: Target): boolean =>
  createdAt.getTime() <= occurredAt.getTime() + CLOCK_TOLERANCE_MS

/** The body of an event's deliveries (OP-61): made once, then stored, signed and sent as it is. */
export const envelopeOf = ({ id, type, occurred_at, livemode, data }: EventRecord): string =>
  JSON.stringify({ id, type, timestamp: occurred_at, livemode, data })
