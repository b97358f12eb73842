import type { AnySql } from '@backoffice/postgres/database.ts'
import { ALL_EVENTS } from '../endpoints/endpoint.ts'
import { Targets } from '../endpoints/targets.ts'
import { matchEvents, type ReadEvent } from '../events/matching.ts'
import type { ExpectedDelivery } from './judgement.ts'

/** An event of the range. */
export interface JudgedEvent {
  /** Without its data, which may be megabytes. */
  readonly event: ReadEvent
  readonly producedAt: Date
  readonly isConsumed: boolean
}

/** An endpoint as it is now, without its secrets. */
export interface JudgedEndpoint {
  readonly workspaceId: string
  readonly id: string
  readonly url: string
  readonly enabledEvents: readonly string[]
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The endpoints of some workspaces. */
export const endpointsOf = (sql: AnySql, workspaceIds: readonly string[]) => sql<JudgedEndpoint[]>`
  select workspace_id as "workspaceId", id, url, enabled_events as "enabledEvents",
    created_at as "createdAt", updated_at as "updatedAt"
  from endpoint where workspace_id = any(${[...workspaceIds]}::uuid[])`

/** Clocks differ, and a change holds from its commit on: only of events that came so much later is it certain that it held. */
const SETTLED_AFTER_MS = 10_000

/**
 * The deliveries that events have to have by the endpoints there are now, matched as the fan-out matches them. An endpoint
 * that was changed after an event may have asked for it then, whatever it asks for now: its delivery is not certain.
 */
export function* expectedDeliveries(
  events: readonly JudgedEvent[],
  endpoints: readonly JudgedEndpoint[],
): Generator<ExpectedDelivery> {
  const updatedAt = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.updatedAt.getTime()]))
  const asTheyAre = targetsOf(endpoints, ({ enabledEvents }) => enabledEvents)
  const asTheyMayHaveBeen = targetsOf(endpoints.filter(isChanged), () => [ALL_EVENTS])
  for (const { event, producedAt, isConsumed } of events) {
    const { workspace_id: workspaceId, id: eventId, type: eventType } = event
    // An event may tell a time that lies ahead.
    const at = Math.min(Date.parse(event.occurred_at), producedAt.getTime())
    const getting = new Set(matchingIn(asTheyAre, event))
    for (const endpointId of new Set([...getting, ...matchingIn(asTheyMayHaveBeen, event)])) {
      const isCertain = (updatedAt.get(endpointId) ?? 0) + SETTLED_AFTER_MS <= at
      if (isCertain && !getting.has(endpointId)) continue
      yield { workspaceId, eventId, eventType, endpointId, isCertain, isConsumed }
    }
  }
}

/** `updated_at` is never before `created_at`. */
const isChanged = ({ createdAt, updatedAt }: JudgedEndpoint): boolean => updatedAt > createdAt

const matchingIn = (workspaces: ReadonlyMap<string, Targets>, event: ReadEvent): readonly string[] =>
  matchEvents([{ key: '', value: event }], workspaces).flatMap(({ targets }) => targets.map(({ id }) => id))

function targetsOf(
  endpoints: readonly JudgedEndpoint[],
  eventsOf: (endpoint: JudgedEndpoint) => readonly string[],
): Map<string, Targets> {
  const workspaces = new Map<string, Targets>()
  for (const endpoint of endpoints) {
    const { workspaceId, id, createdAt } = endpoint
    const targets = workspaces.get(workspaceId) ?? new Targets()
    workspaces.set(workspaceId, targets)
    targets.add({ workspaceId, id, url: new URL(endpoint.url), signing: undefined, createdAt }, eventsOf(endpoint))
  }
  return workspaces
}
