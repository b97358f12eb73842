import type { AnySql } from '@backoffice/postgres/database.ts'
import type { MatchedEvent } from './matching.ts'

/** Bytes of bodies stored by one statement, about. */
const BYTES_A_STATEMENT = 4 * 1024 * 1024

/** Stores events, each once whatever the number of its deliveries. One that is there stays as it is. */
export async function storeEvents(tx: AnySql, events: readonly MatchedEvent[]): Promise<void> {
  for (const part of partsOf(events)) {
    await tx`
      insert into event (workspace_id, id, type, key, body, occurred_at, traceparent)
      select workspace_id, id, type, key, body, occurred_at, traceparent
      from json_to_recordset(${JSON.stringify(part.map(eventRow))}::text::json)
        as event (workspace_id uuid, id uuid, type text, key text, body text, occurred_at timestamptz, traceparent text)
      on conflict do nothing`
  }
}

function* partsOf(events: readonly MatchedEvent[]): Generator<MatchedEvent[]> {
  let part: MatchedEvent[] = []
  let bytes = 0
  for (const event of events) {
    part.push(event)
    bytes += event.bytes.length
    if (bytes < BYTES_A_STATEMENT) continue
    yield part
    part = []
    bytes = 0
  }
  if (part.length > 0) yield part
}

const eventRow = ({ workspaceId, id, type, key, body, occurredAt, traceparent }: MatchedEvent) => ({
  workspace_id: workspaceId,
  id,
  type,
  key,
  body,
  occurred_at: occurredAt.toISOString(),
  traceparent,
})
