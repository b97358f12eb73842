import { reasonOf } from '@backoffice/messaging/consumers/dead-letters.ts'
import { causeOf } from '@backoffice/messaging/consumers/error-causes.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql, Database, Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import { workspacesInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { failsAlone } from '@backoffice/runtime/worker-failures.ts'
import { ACTOR, applyRecord, LOCK_TIMEOUT, type StockRecord } from './stock-records.ts'

/** Queues a record whose rows are locked. One that comes again is queued once. */
export const queueRecord = (tx: Transaction, record: StockRecord) => queueIf(tx, tx`true`, record)

/** Queues a record behind others of its workspace, whose rows may be the same. Returns whether there are others. */
export async function queueBehindOthers(tx: Transaction, record: StockRecord): Promise<boolean> {
  const others = tx`exists (
    select from queued_stock where workspace_id = ${tx.context.workspaceId} and refused is null
  )`
  return (await queueIf(tx, others, record)).count > 0
}

const queueIf = (tx: Transaction, condition: SqlPart, { type, data }: StockRecord) => tx`
  insert into queued_stock (workspace_id, id, type, data, livemode, traceparent)
  select
    ${tx.context.workspaceId}, ${'id' in data ? data.id : data.order}, ${type}, ${JSON.stringify(data)}::text::json,
    ${tx.context.livemode}, ${tx.context.traceparent}
  where ${condition}
  on conflict do nothing`

const NAME = 'queued stock'
const EVERY_MS = 200
/** Records of a workspace that are applied before the next workspace has its turn. */
const IN_TURN = 20
/** Seconds until a record that could not be applied is due again. */
const AGAIN_AFTER_S = 2

interface Queue {
  /** Connects as the app role. */
  readonly db: Database
  /** Connects as the worker role. */
  readonly worker: Database
  readonly logger: Logger
}

/**
 * Applies queued records, some of each workspace in turn. One that fails is due again some seconds later, and keeps
 * back neither the others of its workspace nor other workspaces. One that the consumer would have sent to the dead
 * letters is set aside with the reason. Replicas share the work.
 */
export function applyQueuedStock({ db, worker: { sql }, logger }: Queue) {
  const nextWorkspace = workspacesInTurn<WorkspaceContext>(
    sql,
    () => sql`select workspace_id as "workspaceId", livemode, traceparent from queued_stock where ${isDue(sql)}`,
  )
  return worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger,
    async work(stopping) {
      let applied = 0
      for (let next = await nextWorkspace(); next && !stopping.aborted; next = await nextWorkspace())
        applied += await applySome(db, logger, next)
      return applied > 0 ? 0 : undefined
    },
  })
}

/** Applies records of a workspace, or sets them aside, until one fails. Returns how many. */
async function applySome(db: Database, logger: Logger, workspace: WorkspaceContext): Promise<number> {
  let applied = 0
  await failsAlone(logger, NAME, { workspace_id: workspace.workspaceId }, async () => {
    while (applied < IN_TURN && (await applyNext(db, logger, workspace))) applied++
  })
  return applied
}

/** Applies the record that has been due for longest, or sets it aside. Returns whether there was one. */
async function applyNext(db: Database, logger: Logger, workspace: WorkspaceContext): Promise<boolean> {
  const next = await db.inWorkspace(workspace, takeNext)
  if (next === undefined) return false
  const { id, livemode, traceparent } = next
  try {
    await db.inWorkspace({ ...workspace, livemode, traceparent, actor: ACTOR }, (tx) => applyQueued(tx, next))
  } catch (error) {
    if (causeOf(error) !== 'RECORD') throw error
    logger.error({ err: error, workspace_id: workspace.workspaceId, id }, 'a queued record of stock is refused')
    await db.inWorkspace(workspace, (tx) => refuse(tx, id, reasonOf(error)))
  }
  return true
}

type QueuedRecord = StockRecord & Pick<WorkspaceContext, 'livemode' | 'traceparent'> & { readonly id: string }

/** In a transaction of its own: if the record fails, it is not the first one any more. */
async function takeNext(tx: Transaction): Promise<QueuedRecord | undefined> {
  const workspace = tx.context.workspaceId
  const [next] = await tx<QueuedRecord[]>`
    update queued_stock set due_at = now() + make_interval(secs => ${AGAIN_AFTER_S})
    where workspace_id = ${workspace} and id = (
      select id from queued_stock where workspace_id = ${workspace} and ${isDue(tx)}
      order by due_at, id limit 1 for update skip locked
    )
    returning id, type, data, livemode, traceparent`
  return next
}

/** Another replica may have applied it, if this one was paused. */
async function applyQueued(tx: Transaction, { id, ...record }: QueuedRecord): Promise<void> {
  await tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`
  const { count } = await tx`delete from queued_stock where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  if (count > 0) await applyRecord(tx, record)
}

const refuse = (tx: Transaction, id: string, reason: string) => tx`
  update queued_stock set refused = ${reason} where workspace_id = ${tx.context.workspaceId} and id = ${id}`

/** What is due later than it can be is of a time when the clock was wrong (OP-302). */
const isDue = (sql: AnySql) => sql`
  refused is null and due_at not between now() and now() + make_interval(secs => ${AGAIN_AFTER_S})`

const oldest = gauge(
  'catalog_oldest_queued_stock_seconds',
  'Age of the oldest queued record of stock that comes back, refused ones with it, among ten thousand',
  's',
)

/** Measures the queued records: their stock cannot be sold until they are applied. */
export const measureQueuedStock = (db: Database, logger: Logger) =>
  measureRows('queued stock', db, logger, async (tx) => {
    const [found] = await tx<[{ seconds: number }]>`
      select coalesce(extract(epoch from now() - min(queued_at)), 0)::float8 as seconds
      from (select queued_at from queued_stock limit ${MEASURED_ROWS}) as queued`
    oldest.record(Math.max(0, found.seconds))
  })
