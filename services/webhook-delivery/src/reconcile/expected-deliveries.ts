import { ALL_EVENTS } from '@backoffice/contracts/enabled-events.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { pausedUntil } from '../endpoints/endpoint-directory.ts'
import { type Target, Targets } from '../endpoints/targets.ts'
import { matchEvents, type ReadEvent } from '../events/matching.ts'
import type { ExpectedDelivery } from './judgement.ts'

export interface JudgedEvent {
  /** Without its data, which may be megabytes. */
  readonly event: ReadEvent
  readonly producedAt: Date
  readonly isConsumed: boolean
}

/** The current state of an endpoint, without its secrets. */
export interface JudgedEndpoint extends Required<Pick<Target, 'workspaceId' | 'id' | 'createdAt' | 'pausedUntil'>> {
  readonly enabledEvents: readonly string[]
  readonly updatedAt: Date
}

/** The endpoints of some workspaces. */
export const endpointsOf = (sql: AnySql, workspaceIds: readonly string[]) => sql<JudgedEndpoint[]>`
  select workspace_id as "workspaceId", id, enabled_events as "enabledEvents",
    created_at as "createdAt", updated_at as "updatedAt",
    coalesce(extract(epoch from ${pausedUntil(sql)}) * 1000, 0)::float8 as "pausedUntil"
  from endpoint where workspace_id = any(${[...workspaceIds]}::uuid[])`

/** A change of an endpoint certainly applies so much later: clocks differ, and it applies from its commit. */
const SETTLED_AFTER_MS = 10_000

/** Matches as the fan-out does. What an endpoint changed after an event should have got is not certain. */
export function* expectedDeliveries(
  events: readonly JudgedEvent[],
  endpoints: readonly JudgedEndpoint[],
): Generator<ExpectedDelivery> {
  const updatedAt = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.updatedAt.getTime()]))
  const current = targetsOf(endpoints, ({ enabledEvents }) => enabledEvents)
  const former = targetsOf(endpoints.filter(isChanged), () => [ALL_EVENTS])
  for (const { event, producedAt, isConsumed } of events) {
    const { workspace_id: workspaceId, id: eventId, type: eventType } = event
    // The time of an event may lie in the future.
    const at = Math.min(Date.parse(event.occurred_at), producedAt.getTime())
    const matching = new Set(matchingIn(current, event))
    for (const endpointId of new Set([...matching, ...matchingIn(former, event)])) {
      const isCertain = (updatedAt.get(endpointId) ?? 0) + SETTLED_AFTER_MS <= at
      if (isCertain && !matching.has(endpointId)) continue
      yield { workspaceId, eventId, eventType, endpointId, isCertain, isConsumed }
    }
  }
}

/** `updated_at` is never before `created_at`. */
const isChanged = ({ createdAt, updatedAt }: JudgedEndpoint): boolean => updatedAt > createdAt

/** In place of the URL of an endpoint, which does not matter here. */
const NOWHERE = new URL('about:blank')

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
    targets.add({ workspaceId, id, url: NOWHERE, signing: undefined, createdAt }, eventsOf(endpoint))
  }
  return workspaces
}
