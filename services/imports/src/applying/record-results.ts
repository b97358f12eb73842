import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { ImportResult } from '@backoffice/contracts/imports.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer.ts'
import { enter, type Transaction } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { z } from 'zod'
import { endIfAnswered } from '../imports/end-import.ts'
import { countAppliedRows } from '../imports/import-metrics.ts'

const ResultRecord = z.object({
  workspace_id: Id,
  livemode: z.boolean(),
  data: z.object(ImportResult.shape),
})
type ResultRecord = z.output<typeof ResultRecord>

/**
 * Records what became of each batch. An answer counts once: it fills the row of its batch. `onRecorded` is called after the commit,
 * to publish the next batches. The consumer's `db` connects as the app role.
 */
export const recordResults = (onRecorded: () => void): ConsumerDefinition<ResultRecord> => ({
  name: 'imports.results',
  topics: [TOPICS.importsResults],
  schema: ResultRecord,
  batchSize: 1,
  async handle(records, tx) {
    const recorded: Outcomes[] = []
    for (const { value, traceparent } of records) {
      const { workspace_id: workspaceId, livemode, data } = value
      const context = { workspaceId, livemode, traceparent: traceparentFrom(traceparent), actor: 'imports' }
      const outcomes = await enter(tx, context, (inside) => recordResult(inside, data, new Date()))
      if (outcomes !== undefined) recorded.push(outcomes)
    }
    return () => {
      recorded.forEach(countAppliedRows)
      onRecorded()
    }
  },
})

type Outcomes = Record<'created' | 'updated' | 'failed', number>

/** Returns the numbers of rows; undefined when the answer was recorded before. */
async function recordResult(
  tx: Transaction,
  { import_id: id, batch, rows }: ImportResult,
  now: Date,
): Promise<Outcomes | undefined> {
  const workspace = tx.context.workspaceId
  const count = (wanted: ImportResult['rows'][number]['status']) =>
    rows.filter(({ status }) => status === wanted).length
  const outcomes = { created: count('created'), updated: count('updated'), failed: count('failed') }
  const errors = rows.flatMap(({ row, errors: [error] }) => (error === undefined ? [] : [{ row, ...error }]))
  // The import is locked first, as everywhere.
  const recorded = await tx`
    with locked as (
      select id from import where workspace_id = ${workspace} and id = ${id} for no key update
    ), answered as (
      update import_batch set
        created = ${outcomes.created}, updated = ${outcomes.updated}, failed = ${outcomes.failed},
        errors = ${errors.length === 0 ? null : JSON.stringify(errors)}::text::json
      where workspace_id = ${workspace} and import_id = (select id from locked) and batch = ${batch} and failed is null
      returning created, updated, failed
    )
    update import set
      created = import.created + answered.created, updated = import.updated + answered.updated,
      failed = import.failed + answered.failed, answered_batches = answered_batches + 1, updated_at = now()
    from answered
    where workspace_id = ${workspace} and id = ${id}`
  if (recorded.count === 0) return undefined
  await endIfAnswered(tx, id, now)
  return outcomes
}
