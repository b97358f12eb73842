import { ALL_EVENTS } from '@backoffice/contracts/enabled-events.ts'
import type { EndpointState } from '@backoffice/contracts/endpoint-state.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { raiseVersion } from '@backoffice/postgres/versioned-cache.ts'
import type { z } from 'zod'
import { deliverMade, type MadeEvent } from '../events/deliver-made.ts'

type State = z.output<typeof EndpointState>

/** A change of an endpoint's state; `since` is the time of the change. */
export interface ChangedState extends Omit<State, 'since'> {
  readonly workspaceId: string
  readonly livemode: boolean
  readonly since: Date
}

/** The columns of a ChangedState in a statement that changes `endpoint_health as health`, but for `livemode`. */
export const changedColumns = (sql: AnySql) => sql`
  health.workspace_id as "workspaceId", health.endpoint_id as id, health.state, health.reason, health.since`

const EVENTS: Readonly<Record<State['state'], string>> = {
  ACTIVE: 'webhook.endpoint.recovered',
  FAILING: 'webhook.endpoint.failing',
  DISABLED: 'webhook.endpoint.disabled',
}

/**
 * Publishes changes in their transaction, each once: processes read the endpoints again, and the workspace's other
 * endpoints get an event (OP-255).
 */
export async function publishStates(tx: AnySql, changes: readonly ChangedState[]): Promise<void> {
  if (changes.length === 0) return
  await raiseVersion(tx, 'endpoint_set', ...changes.map(({ workspaceId }) => workspaceId))
  const isSubscribed = tx`
    endpoint.id <> made.key and endpoint.enabled_events && array[${ALL_EVENTS}, made.type]`
  await deliverMade(tx, changes.map(eventOf), isSubscribed)
}

const eventOf = ({ workspaceId, livemode, since, ...state }: ChangedState): MadeEvent => ({
  type: EVENTS[state.state],
  workspace_id: workspaceId,
  livemode,
  data: { ...state, since: since.toISOString() } satisfies State,
  key: state.id,
  occurredAt: since,
})
