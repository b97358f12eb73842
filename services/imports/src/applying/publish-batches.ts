import { TOPICS } from '@backoffice/contracts/events.ts'
import type { Template } from '@backoffice/contracts/imports.ts'
import type { AnySql, Database } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import { inRun } from '@backoffice/runtime/spans.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { failsAlone, noteFailure } from '@backoffice/runtime/worker-failures.ts'
import { readBatches } from '../files/stored-rows.ts'
import { recordFailure } from '../imports/end-import.ts'
import { type ImportKey, inImport } from '../imports/import-row.ts'
import { lockApplying } from '../imports/lock-applying.ts'
import { type AskingImport, OWNERS } from '../imports/owner-client.ts'
import type { WorkerContext } from '../imports/worker-context.ts'

/** Batches of one import that are published and not answered, at most: its owner always has work, also of others. */
const WINDOW = 4
/** Batches of all imports of one owner: an owner that is away holds up no import of another. */
const UNANSWERED_OF_OWNER = 24

/** So long without an answer. The alert ImportsStuck fires before, and its runbook does the same. */
const SILENT_FOR = '1 day'

/** An import with batches to publish. */
interface ApplyingImport extends AskingImport {
  readonly claim: string
  readonly nextBatch: number
  /** The number of batches that may be published now. */
  readonly batches: number
  /** Whether its last try has failed. */
  readonly isFailing: boolean
}

const NAME = 'batches'
const EVERY_MS = 1000
/** Imports that a replica publishes at the same time, one of them for others than those that fail. */
const PLACES = 4

/**
 * Publishes the batches of started imports as their earlier ones are answered. Every replica does, since an import's
 * row says which batch is next. Call `wake` after an import was started or a batch answered.
 */
export function publishBatches(context: WorkerContext) {
  const publishing = new Tasks<ApplyingImport>()
  return worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger: context.logger,
    tasks: publishing,
    async work(stopping) {
      await publishLostAgain(context)
      const underWay = new Set(publishing.items.map(({ id }) => id))
      const waiting = (await importsToPublish(context.worker)).filter(({ id }) => !underWay.has(id))
      for (const applying of waiting) {
        if (publishing.items.length >= (applying.isFailing ? PLACES - 1 : PLACES)) continue
        publishing.begin(applying, () => inRun(NAME, () => publishOrNote(context, applying, stopping)))
      }
    },
  })
}

/**
 * Has the batches of imports published again of which no answer has come for a day: they or their answers are lost. The
 * owner applies none twice, and answers again (decision 015).
 */
export async function publishLostAgain({ db, worker, logger }: Pick<WorkerContext, 'db' | 'worker' | 'logger'>) {
  const isSilent = (sql: AnySql) => sql`
    started_at is not null and ended_at is null and next_batch > answered_batches
    and greatest(sent_at, updated_at) < now() - ${SILENT_FOR}::interval`
  const silent = await worker.sql<ImportKey[]>`
    select workspace_id as "workspaceId", id, livemode from import where ${isSilent(worker.sql)}`
  for (const one of silent) {
    const { workspaceId, id } = one
    await failsAlone(logger, NAME, { import_id: id, workspace_id: workspaceId }, () =>
      inImport(
        db,
        one,
        (tx) => tx`
          update import set updated_at = now(), next_batch = (
            select min(batch) from import_batch
            where workspace_id = ${workspaceId} and import_id = ${id} and failed is null
          )
          where workspace_id = ${workspaceId} and id = ${id} and ${isSilent(tx)}`,
      ),
    )
  }
}

/** Publishes the next batches of an import. One that fails keeps its place for a moment, and is tried again then. */
async function publishOrNote(context: WorkerContext, applying: ApplyingImport, stopping: AbortSignal): Promise<void> {
  const { db, logger } = context
  const ids = { import_id: applying.id, workspace_id: applying.workspaceId }
  try {
    await publishNext(context, applying)
  } catch (error) {
    noteFailure(logger, NAME, error, ids)
    await failsAlone(logger, NAME, ids, () => recordFailure(db, applying, error))
    await pauseUnless(stopping, EVERY_MS)
  }
}

/**
 * The imports that may publish batches now: of each workspace the one that was started first, and the workspaces round
 * robin; those that fail come last. So a large import keeps no other waiting. A workspace whose import is being undone
 * has none.
 */
export async function importsToPublish({ sql }: Database): Promise<ApplyingImport[]> {
  const applying = await sql<(Omit<ApplyingImport, 'batches'> & { unanswered: number; left: number })[]>`
    select
      workspace_id as "workspaceId", id, template, livemode, product_statuses as "productStatuses", claim,
      failing_since is not null as "isFailing", next_batch as "nextBatch", next_batch - answered_batches as unanswered, ends_at_batch - next_batch as left
    from (
      select distinct on (workspace_id) * from import
      where started_at is not null and ended_at is null
        and not exists (
          select from import_undo where import_undo.workspace_id = import.workspace_id and import_undo.status = 'RUNNING'
        )
      order by workspace_id, started_at, id
    ) first_of_workspace
    order by failing_since is not null, sent_at nulls first`
  const free = new Map<string, number>()
  const freeOf = (template: Template) => free.get(OWNERS[template]) ?? UNANSWERED_OF_OWNER
  const take = (template: Template, count: number) => free.set(OWNERS[template], freeOf(template) - count)
  for (const { template, unanswered } of applying) take(template, unanswered)
  return applying.flatMap(({ unanswered, left, ...found }) => {
    const batches = Math.min(WINDOW - unanswered, left, freeOf(found.template))
    if (batches <= 0) return []
    take(found.template, batches)
    return { ...found, batches }
  })
}

/**
 * Publishes the next batches of an import, unless an undo was requested since. Of several replicas, the first to commit
 * does. Returns their number.
 */
export async function publishNext(
  { db, storage }: Pick<WorkerContext, 'db' | 'storage'>,
  applying: ApplyingImport,
): Promise<number> {
  const { workspaceId, id, template, productStatuses: product_statuses, claim, nextBatch: from } = applying
  const batches = await inImport(
    db,
    applying,
    (tx) => tx<{ batch: number; first_byte: number; bytes: number }[]>`
      select batch, first_byte, bytes from import_batch
      where workspace_id = ${workspaceId} and import_id = ${id} and batch >= ${from} and batch < ${from + applying.batches}
      order by batch`,
  )
  const [first, ...others] = batches
  const last = batches.at(-1)
  if (first === undefined || last === undefined) throw new Error(`import ${id} has no batch ${from}`)
  const rows = await readBatches(storage, { workspaceId, id, claim }, [first, ...others])
  const records = batches.map(({ batch }, index) => ({
    topic: TOPICS.importsBatches,
    type: `batch.${template}`,
    key: id,
    data: { import_id: id, batch, template, product_statuses, rows: rows[index] },
  }))
  return inImport(db, applying, async (tx) => {
    await lockApplying(tx)
    const advanced = await tx`
      update import set next_batch = ${last.batch + 1}, sent_at = clock_timestamp(), failing_since = null
      where workspace_id = ${workspaceId} and id = ${id} and next_batch = ${from} and ends_at_batch > ${last.batch}
        and not exists (select from import_undo where workspace_id = ${workspaceId} and status = 'RUNNING')`
    if (advanced.count === 0) return 0
    await publish(tx, records, currentTime())
    return records.length
  })
}
