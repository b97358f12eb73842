import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { restAfter } from '@backoffice/runtime/give-way.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { noteFailure } from '@backoffice/runtime/worker-failures.ts'
import { type ErasurePass, erasePersonalData } from './erase-personal-data.ts'

const NAME = 'erasures'
const EVERY_MS = 1000
const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

/**
 * When passes are due, in seconds after an erasure was noted. The fan-out redacts what it stores later, so the later
 * passes are for what was under way during the first one: a transaction of the fan-out, an attempt and its response.
 */
export const PASSES_AFTER_S: readonly number[] = [0, HOUR_S, DAY_S]

/** Customers that one pass looks for. Each costs a search through the body of each event with personal data. */
const CUSTOMERS_A_PASS = 100

/**
 * Works on a batch of one workspace after another (OP-139), and rests as long as each took, so it uses half of one
 * connection at most. Replicas share the passes; `sql` is of the worker role, `clock` is the database's.
 */
export const erasureWorker = (sql: Sql, logger: Logger, clock: () => Date) =>
  worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger,
    work: async () => {
      const startedAt = performance.now()
      if (await eraseSome(sql, logger, clock())) return restAfter(startedAt)
    },
  })

/**
 * Works on one batch of the pass that has waited longest. Returns false when there was nothing to do, or it failed:
 * that is logged, and tried again.
 */
export async function eraseSome(sql: Sql, logger: Logger, now: Date): Promise<boolean> {
  await startPasses(sql, now)
  let workspaceId: string | undefined
  try {
    return await inTransaction(sql, async (tx) => {
      const pass = await nextPass(tx)
      if (pass === undefined) return false
      workspaceId = pass.workspaceId
      const batch = await erasePersonalData(tx, pass, now)
      if (batch === undefined) await endPass(tx, pass)
      else {
        // It goes to the end of the line.
        await tx`
          update erasure_pass set after_id = ${batch.lastId}, worked_at = ${now} where workspace_id = ${workspaceId}`
      }
      if (batch?.redacted) logger.info({ workspace_id: workspaceId, events: batch.redacted }, 'personal data removed')
      return true
    })
  } catch (error) {
    if (workspaceId === undefined) throw error
    noteFailure(logger, NAME, error, { workspace_id: workspaceId })
    // Otherwise the workspace of the failure would be next again, and no other would have its turn.
    await sql`update erasure_pass set worked_at = ${now} where workspace_id = ${workspaceId}`
    return false
  }
}

/** Starts a pass for each workspace that has due erasures and no pass. Those that come later wait for the next pass. */
export async function startPasses(sql: Sql, now: Date): Promise<void> {
  await sql`
    insert into erasure_pass (workspace_id, customer_ids, started_at, worked_at)
    select workspace_id, (array_agg(customer_id order by next_pass_at, customer_id))[1:${CUSTOMERS_A_PASS}],
      ${now}::timestamptz, ${now}::timestamptz
    from erasure
    where next_pass_at <= ${now} and not exists (select from erasure_pass where workspace_id = erasure.workspace_id)
    group by workspace_id order by workspace_id
    on conflict do nothing`
}

/** Locks the pass that has waited longest, of those that no other replica works on. */
export async function nextPass(tx: AnySql): Promise<ErasurePass | undefined> {
  const [pass] = await tx<ErasurePass[]>`
    select workspace_id as "workspaceId", customer_ids as "customerIds", started_at as "startedAt", after_id as "afterId"
    from erasure_pass order by worked_at, workspace_id limit 1 for update skip locked`
  return pass
}

/** Ends a locked pass: its erasures wait for their next one, if any. They stay for the fan-out. */
async function endPass(tx: AnySql, { workspaceId, customerIds, startedAt }: ErasurePass): Promise<void> {
  // A second replica can start the same pass again when it has read the erasures before this one's commit. That pass
  // counts for nothing, since no erasure is due as of its start.
  await tx`
    with ended as (delete from erasure_pass where workspace_id = ${workspaceId})
    update erasure set
      passes_made = passes_made + 1,
      next_pass_at = noted_at + make_interval(secs => (${[...PASSES_AFTER_S]}::integer[])[passes_made + 2])
    where workspace_id = ${workspaceId} and customer_id = any(${customerIds}::uuid[]) and next_pass_at <= ${startedAt}`
}
