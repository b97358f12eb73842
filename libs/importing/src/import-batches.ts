import { unprocessable } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { ImportResult } from '@backoffice/contracts/imports.ts'
import { AGAIN, type ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { handleOnce, takeFromInbox } from '@backoffice/messaging/consumers/inbox.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { restsAreOver } from '@backoffice/runtime/give-way.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { z } from 'zod'
import { lockImport } from './import-lock.ts'
import { ImportBatch, type ImportedChange, type Importer, type Importers } from './importer.ts'
import { type Row, RowOutcomes } from './row-outcomes.ts'
import { importThrottle, type Throttle } from './throttle.ts'

/** A batch of any service's template. A consumer ignores the templates of other services. */
const AnyBatch = z.object({
  workspace_id: Id,
  livemode: z.boolean(),
  data: z.looseObject({ import_id: Id, batch: z.int(), template: z.string() }),
})

type Applied = ImportResult['rows'][number]

/** A service's side of imports. */
export interface ImportBatchesDefinition {
  /** `<service>.imports`. */
  readonly name: string
  readonly importers: Importers
  /** Called after the commit of a batch, to wake the relay. */
  readonly wake: () => void
}

/**
 * Applies the import batches of the service's own templates. A batch, its inbox row and its answer on `imports.results`
 * are one transaction, so a batch that comes again changes nothing and is answered once (decision 015). One that is
 * sent again since its answer is lost is answered again. What is too much for one transaction takes several, of which
 * the last has the inbox row and the answer. Its pool connects as the app role.
 * While the process has requests to answer, these go first.
 */
export function importBatches(definition: ImportBatchesDefinition): ConsumerDefinition<z.output<typeof AnyBatch>> {
  const { name, importers, wake } = definition
  const own = new Map<string, Importer>(Object.entries(importers))
  return {
    name,
    topics: [TOPICS.importsBatches],
    schema: AnyBatch,
    async batchSize() {
      await restsAreOver()
      return 1
    },
    async handle(records, begun, noteProgress) {
      const { end, ...ofImport } = importThrottle(noteProgress)
      const throttle: Throttle = { ...ofImport, inTransaction: (atMost) => atMost }
      let isUnfinished = false
      const applyRecord = async ({ value, traceparent }: (typeof records)[number]) => {
        const { workspace_id: workspaceId, livemode, data } = value
        const { import_id: importId, batch, template } = data
        const importer = own.get(template)
        if (importer === undefined) return
        const actor = `import ${importId}`
        const context = { workspaceId, livemode, actor, traceparent: traceparentFrom(traceparent) }
        const message = { consumer: name, id: `${importId}/${batch}` }
        const apply = async (tx: Transaction) => {
          if (await applyBatch(tx, importer, readBatch(data), throttle, currentTime())) return
          isUnfinished = true
          await takeFromInbox(tx, message)
        }
        const answer = (tx: Transaction) => answerAgain(tx, importer, readBatch(data), throttle, currentTime())
        await handleOnce(begun, context, message, apply, answer)
      }
      try {
        for (const record of records) await applyRecord(record)
      } catch (error) {
        end()
        throw error
      }
      return () => {
        end()
        wake()
        return isUnfinished ? AGAIN : undefined
      }
    },
  }
}

function readBatch(data: unknown): ImportBatch {
  const parsed = ImportBatch.safeParse(data)
  if (!parsed.success) throw unprocessable(['data'], z.prettifyError(parsed.error))
  return parsed.data
}

/**
 * Plans and writes the rows of a batch that no earlier transaction has. Rows of an import that is undone fail. Returns
 * whether these are the last ones: then it publishes the outcome of each row.
 */
async function applyBatch(
  tx: Transaction,
  importer: Importer,
  batch: ImportBatch,
  throttle: Throttle,
  now: Date,
): Promise<boolean> {
  await lockImport(tx, batch.import_id)
  const { isUndone, earlier } = await takeEarlier(tx, batch)
  const known = new Set(earlier.map(({ row }) => row))
  const left = { ...batch, rows: batch.rows.filter(({ row }) => !known.has(row)) }
  const applied = isUndone
    ? left.rows.map((one) => refused(one, 'the import was undone'))
    : await appliedRows(tx, importer, left, throttle, now)
  const rows = [...earlier, ...applied].toSorted((one, other) => one.row - other.row)
  if (applied.length > 0 && rows.length < batch.rows.length) {
    await keepEarlier(tx, batch, rows)
    return false
  }
  await publishAnswer(tx, batch, rows, now)
  return true
}

const publishAnswer = (tx: Transaction, { import_id, batch, template }: ImportBatch, rows: Applied[], now: Date) =>
  publish(
    tx,
    [outboxRecord(TOPICS.importsResults, 'batch.applied', import_id, { import_id, batch, template, rows })],
    now,
  )

/**
 * Answers a batch that was applied long ago. What its rows would do now tells what became of them: one that would
 * change nothing is applied, one that would fail has failed. Another is reported as failed, since nobody knows.
 */
async function answerAgain(tx: Transaction, importer: Importer, batch: ImportBatch, throttle: Throttle, now: Date) {
  const rows: Applied[] = []
  for (let left = batch.rows; left.length > 0; ) {
    const outcomes = new RowOutcomes(throttle)
    const plan = importer.plan(tx, { ...batch, rows: left, isCheck: true, earlier: [] }, outcomes, now)
    for await (const _ of plan) {
      // The changes are not written.
    }
    const { created, updated } = outcomes.checked(left)
    const changing = new Set([...created, ...updated])
    const known = outcomes.applied(left)
    if (known.length === 0) break
    rows.push(...known.map((one) => (changing.has(one.row) ? refused(one, OUTCOME_LOST) : one)))
    const done = new Set(known.map(({ row }) => row))
    left = left.filter(({ row }) => !done.has(row))
  }
  await publishAnswer(tx, batch, rows, now)
}

/**
 * The outcomes of the rows that earlier transactions of the batch have, and whether the undo of the import has begun. A
 * batch that went to the dead letters comes after it when the outbox of imports is published again, as after a restore.
 */
async function takeEarlier(tx: Transaction, { import_id, batch }: ImportBatch) {
  const workspace = tx.context.workspaceId
  const [found] = await tx<[{ isUndone: boolean; earlier: Applied[] }]>`
    with begun as (
      delete from begun_batch where workspace_id = ${workspace} and import_id = ${import_id} and batch = ${batch}
      returning rows
    )
    select
      exists (
        select from undone_import where workspace_id = ${workspace} and import_id = ${import_id}
      ) as "isUndone",
      coalesce((select rows from begun), '[]') as earlier`
  return found
}

const keepEarlier = (tx: Transaction, { import_id, batch }: ImportBatch, rows: readonly Applied[]) => tx`
  insert into begun_batch (workspace_id, import_id, batch, rows)
  values (${tx.context.workspaceId}, ${import_id}, ${batch}, ${JSON.stringify(rows)}::text::json)`

const OUTCOME_LOST =
  'it is not known any more what became of the row, which differs from what is there now; look, or import it again'

const refused = ({ row }: { readonly row: number }, message: string): Applied => ({
  row,
  status: 'failed',
  errors: [{ column: '', code: 'conflict', message, value: null }],
})

async function appliedRows(tx: Transaction, importer: Importer, batch: ImportBatch, throttle: Throttle, now: Date) {
  const outcomes = new RowOutcomes(throttle)
  // The connection's kept plans, such as those of foreign key checks, may be from the time when the tables were small.
  await tx`discard plans`
  const plan = importer.plan(tx, { ...batch, isCheck: false, earlier: [], importId: batch.import_id }, outcomes, now)
  for await (const changes of plan) {
    await importer.write(tx, changes, now)
    await keepChanges(tx, batch.import_id, importer.undo.kept(changes))
  }
  return outcomes.applied(batch.rows)
}

/** Keeps what a batch changed, in its transaction, so that the import can be undone (OP-151). */
export const keepChanges = (tx: Transaction, importId: string, changes: readonly ImportedChange[]) => tx`
  insert into imported_batch (workspace_id, import_id, changes)
  values (${tx.context.workspaceId}, ${importId}, ${JSON.stringify(changes)}::text::json)`

/**
 * Rows in groups that one statement writes. The groups follow the order of the keys, so that batches with the same rows
 * queue rather than deadlock. Within a group the rows keep their order.
 */
export function* rowGroups<Values>(
  rows: readonly Row<Values>[],
  { rowsAtOnce }: Pick<Throttle, 'rowsAtOnce'>,
  keyOf: (row: Row<Values>) => string,
  weightOf?: (row: Row<Values>) => number,
): Generator<Row<Values>[]> {
  const inKeyOrder = rows.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  for (const group of partsOf(inKeyOrder, rowsAtOnce(rows.length), weightOf)) {
    yield group.toSorted((one, other) => one.row - other.row)
  }
}
