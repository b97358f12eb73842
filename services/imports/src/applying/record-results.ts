import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { ImportResult } from '@backoffice/contracts/imports.ts'
import { SERVICES } from '@backoffice/contracts/services.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import type { ReceivedRecord } from '@backoffice/messaging/consumers/received-records.ts'
import { enter, type Transaction } from '@backoffice/postgres/database.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { z } from 'zod'
import { endIfAnswered } from '../imports/end-import.ts'
import type { Mapping } from '../validation/mapping.ts'

const appliedRows = counter('imports_rows_applied', 'Rows whose answer is recorded, by what became of them')

/** A record about a batch. */
const recordOf = <Data extends z.ZodType>(data: Data) => z.object({ workspace_id: Id, livemode: z.boolean(), data })
const ResultRecord = recordOf(z.object(ImportResult.shape))
const RejectedBatch = recordOf(z.object({ import_id: Id, batch: z.int() }))

type Outcomes = Record<'created' | 'updated' | 'failed', number>

/**
 * Records what became of each batch. An answer counts once: it fills the row of its batch. `onRecorded` is called after
 * the commit, to publish the next batches. Its pool connects as the app role.
 */
export const recordResults = (onRecorded: () => void): ConsumerDefinition<z.output<typeof ResultRecord>> => ({
  name: 'imports.results',
  topics: [TOPICS.importsResults],
  schema: ResultRecord,
  batchSize: 1,
  async handle(records, tx) {
    const recorded: Outcomes[] = []
    for (const record of records) {
      const outcomes = await inWorkspaceOf(record, tx, (inside) =>
        recordResult(inside, record.value.data, currentTime()),
      )
      if (outcomes !== undefined) recorded.push(outcomes)
    }
    return () => {
      for (const outcomes of recorded) {
        for (const [outcome, rows] of Object.entries(outcomes)) if (rows > 0) appliedRows.add(rows, { outcome })
      }
      onRecorded()
    }
  },
})

/**
 * Ends an import when its owner could not process a batch and sent it to its dead letters. Later batches of the import
 * go there, too. What was applied before stays and is reported. `wake` wakes the relay. Its pool connects as the
 * app role.
 */
export const recordRejectedBatches = (wake: () => void): ConsumerDefinition<z.output<typeof RejectedBatch>> => ({
  name: 'imports.rejected-batches',
  topics: SERVICES.imports.consumers['rejected-batches'],
  schema: RejectedBatch,
  isEachIndependent: true,
  batchSize: 1,
  async handle(records, tx) {
    for (const record of records) {
      const { import_id: id, batch } = record.value.data
      await inWorkspaceOf(record, tx, (inside) => recordRejection(inside, id, batch, currentTime()))
    }
    return wake
  },
})

function inWorkspaceOf<Result>(
  { value, traceparent }: ReceivedRecord<{ workspace_id: string; livemode: boolean }>,
  tx: Parameters<typeof enter>[0],
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const { workspace_id: workspaceId, livemode } = value
  return enter(tx, { workspaceId, livemode, traceparent: traceparentFrom(traceparent), actor: 'imports' }, work)
}

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
  const refused = rows.flatMap(({ row, errors: [error] }) => (error === undefined ? [] : [{ row, ...error }]))
  const errors = refused.length === 0 ? [] : await inColumnsOfFile(tx, id, refused)
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

/** The errors with the names that the file has for its columns. */
async function inColumnsOfFile<Refused extends { column: string }>(tx: Transaction, id: string, errors: Refused[]) {
  const [finding] = await tx<{ mapping: Mapping | null }[]>`
    select mapping from import_finding where workspace_id = ${tx.context.workspaceId} and import_id = ${id}`
  const { source, columns = [] } = finding?.mapping ?? {}
  if (!source) return errors
  const titles = new Map(columns.map(({ column, target }) => [target, column]))
  return errors.map((error) => ({ ...error, column: titles.get(error.column) ?? error.column }))
}

/** An owner applies the batches of an import in their order: those before are applied, and perhaps rows of this one. */
async function recordRejection(tx: Transaction, id: string, batch: number, now: Date): Promise<void> {
  const workspace = tx.context.workspaceId
  await tx`
    update import set
      ends_at_batch = ${batch}, updated_at = now(),
      failure = format(
        'only the first %s valid rows could be processed; import the file again, or ask for help with the id of the import',
        (
          select coalesce(sum(rows), 0) from import_batch
          where workspace_id = ${workspace} and import_id = ${id} and batch < ${batch}
        )
      )
    where workspace_id = ${workspace} and id = ${id} and ended_at is null and ends_at_batch > ${batch}`
  await endIfAnswered(tx, id, now)
}
