import { ALL_EVENTS } from '@backoffice/contracts/enabled-events.ts'
import type { EndpointState } from '@backoffice/contracts/endpoint-state.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { raiseVersion } from '@backoffice/postgres/versioned-cache.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { z } from 'zod'
import { envelopeOf } from '../events/matching.ts'
import { notifyDue } from '../shards/notify-due.ts'

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
 * Publishes changes in their transaction: processes read the endpoints again, and the workspace's other endpoints get
 * an event (OP-255). The rows are written as those of a ping, so a change has its event exactly once.
 */
export async function publishStates(tx: AnySql, changes: readonly ChangedState[]): Promise<void> {
  if (changes.length === 0) return
  await raiseVersion(tx, 'endpoint_set', ...changes.map(({ workspaceId }) => workspaceId))
  const due = await tx<{ id: string }[]>`
    with published as materialized (
      select published.*, other.id as endpoint_id
      from json_to_recordset(${JSON.stringify(changes.map(eventRow))}::text::json)
        as published (workspace_id uuid, key uuid, id uuid, type text, occurred_at timestamptz, body text)
      join endpoint as other on other.workspace_id = published.workspace_id and other.id <> published.key
        and other.enabled_events && array[${ALL_EVENTS}, published.type]
    ), stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select distinct workspace_id, id, type, key::text, body, occurred_at from published
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select workspace_id, endpoint_id, delivery_id, id, type, uuid_extract_timestamp(delivery_id), uuid_extract_timestamp(delivery_id)
    from (select uuidv7() as delivery_id, * from published) as planned
    returning endpoint_id as id`
  await notifyDue(
    tx,
    due.map(({ id }) => id),
  )
}

function eventRow({ workspaceId, livemode, since, ...state }: ChangedState) {
  const record = {
    id: newId(since),
    type: EVENTS[state.state],
    workspace_id: workspaceId,
    livemode,
    occurred_at: since.toISOString(),
    data: { ...state, since: since.toISOString() } satisfies State,
  }
  return { ...record, key: state.id, body: envelopeOf(record) }
}
