import { PLATFORM, RecordedAct } from '@backoffice/contracts/app.ts'
import { EventRecord, TOPICS } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { z } from 'zod'

/** Not a strict object: members of later releases are passed over. */
const ActRecord = z.object({ ...EventRecord.shape, data: z.object(RecordedAct.shape) })
type ActRecord = z.output<typeof ActRecord>

/** Adds the acts that apps has recorded to the audit log (OP-86). A repeated record changes nothing. */
export const recordActsOfApps: ConsumerDefinition<ActRecord> = {
  name: 'gateway.acts',
  topics: [TOPICS.appsActs],
  schema: ActRecord,
  async handle(records, tx) {
    const rows = records.map(({ value: { id, workspace_id, occurred_at, data } }) => ({
      event_id: id,
      workspace_id: workspace_id === PLATFORM ? null : workspace_id,
      at: new Date(occurred_at),
      ...data,
      who: data.who ?? null,
    }))
    await tx`
      insert into audit ${tx(rows, 'event_id', 'workspace_id', 'at', 'who', 'actor', 'action', 'target', 'request_id')}
      on conflict do nothing`
  },
}
