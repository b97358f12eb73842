import { refuseWrongClock } from '@backoffice/postgres/database-clock.ts'
import { inBatches, worker } from '@backoffice/runtime/worker.ts'
import { failsAlone } from '@backoffice/runtime/worker-failures.ts'
import { type ImportKey, inImport } from '../imports/import-row.ts'
import type { WorkerContext } from '../imports/worker-context.ts'

const NAME = 'kept rows of undos'
const EVERY_MS = 60 * 60_000
const BATCH_SIZE = 50
/** The owner forgets an undo at the same time (expire-imported-changes.ts), so none goes on with the list. */
const KEEP_DAYS = 3

/** Empties the lists of kept customers, who are named by their e-mails, three days after the undo (OP-130). */
export const expireKeptRows = (context: WorkerContext) =>
  worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger: context.logger,
    async work(stopping) {
      await refuseWrongClock(context.worker.sql)
      await inBatches(BATCH_SIZE, () => emptyExpired(context))(stopping)
    },
  })

/** Empties some lists, and returns how many. */
export async function emptyExpired({
  db,
  worker,
  logger,
}: Pick<WorkerContext, 'db' | 'worker' | 'logger'>): Promise<number> {
  const expired = await worker.sql<ImportKey[]>`
    select import.workspace_id as "workspaceId", import.id, livemode
    from import_undo
    join import on import.workspace_id = import_undo.workspace_id and import.id = import_undo.import_id
    where stepped_at < now() - make_interval(days => ${KEEP_DAYS}) and kept > 0 and json_array_length(kept_rows) > 0
      and template = 'customers'
    limit ${BATCH_SIZE}`
  let emptied = 0
  for (const one of expired) {
    await failsAlone(logger, NAME, { workspace_id: one.workspaceId, import_id: one.id }, async () => {
      await inImport(
        db,
        one,
        (tx) => tx`
          update import_undo set kept_rows = '[]'
          where workspace_id = ${one.workspaceId} and import_id = ${one.id}
            and stepped_at < now() - make_interval(days => ${KEEP_DAYS})`,
      )
      emptied++
    })
  }
  return emptied
}
