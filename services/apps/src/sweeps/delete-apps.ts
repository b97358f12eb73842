import { PLATFORM } from '@backoffice/contracts/app.ts'
import type { AnySql, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import { worker as loop } from '@backoffice/runtime/worker.ts'
import { failsAlone } from '@backoffice/runtime/worker-failures.ts'
import { NIL } from 'uuid'
import { lockInstallation } from '../apps/installation-rows.ts'
import { SYSTEM_ACTOR } from '../apps/record-act.ts'
import type { Calling } from '../calls/calling.ts'
import { uninstall } from '../installations/uninstall-app.ts'

interface Deleting extends Pick<Calling, 'db' | 'worker' | 'logger'> {
  /** Wakes the worker that calls apps. */
  wake(): void
}

interface Leftover extends Pick<WorkspaceContext, 'workspaceId' | 'livemode'> {
  readonly id: string
  readonly hasEnded: boolean
}

const NAME = 'deletion of apps'
const EVERY_MS = 1000
const BATCH_SIZE = 20

/**
 * Uninstalls deleted apps, and drafts of deleted sandboxes, in all workspaces, through the queue of calls. Deletes an
 * installation once the app has acknowledged that, or 24 hours later, and the app after the last one (OP-229). Every
 * step may be repeated.
 */
export const deleteApps = (deleting: Deleting): Component =>
  loop({
    name: NAME,
    everyMs: EVERY_MS,
    logger: deleting.logger,
    work: (stopping) => deleteEnded(deleting, stopping),
  })

async function deleteEnded(deleting: Deleting, stopping: AbortSignal): Promise<void> {
  const { sql } = deleting.worker
  const deleted = await sql<{ id: string }[]>`select id from app where ${isDeleted(sql)}`
  for (const { id } of deleted) {
    await failsAlone(deleting.logger, NAME, { app_id: id }, () => deleteOne(deleting, id, stopping))
  }
}

async function deleteOne(deleting: Deleting, id: string, stopping: AbortSignal): Promise<void> {
  let after: string = NIL
  let batch: readonly Leftover[]
  do {
    batch = await installationsToEnd(deleting, id, after)
    for (const installation of batch) {
      const ids = { workspace_id: installation.workspaceId, installation_id: installation.id }
      await failsAlone(deleting.logger, NAME, ids, () => endInstallation(deleting, installation))
    }
    if (batch.length > 0) deleting.wake()
    after = batch.at(-1)?.id ?? after
  } while (batch.length === BATCH_SIZE && !stopping.aborted)
  if (after === NIL) await deleteApp(deleting, id)
}

const isDeleted = (sql: AnySql) => sql`(
  deleted_at is not null or sandbox_id in (select workspace_id from deleted_workspace)
)`

/** Installations that nothing was done about yet, or that no call waits for any more. */
const installationsToEnd = ({ worker }: Deleting, appId: string, after: string) => worker.sql<Leftover[]>`
  select installation.workspace_id as "workspaceId", livemode, id, state not in ('PENDING', 'ACTIVE') as "hasEnded"
  from installation
  left join call on call.workspace_id = installation.workspace_id and call.installation_id = installation.id
  where installation.app_id = ${appId} and installation.id > ${after} and (state in ('PENDING', 'ACTIVE') or call.installation_id is null)
  order by id
  limit ${BATCH_SIZE}`

function endInstallation({ db }: Deleting, { id, workspaceId, livemode, hasEnded }: Leftover): Promise<void> {
  const context = { workspaceId, livemode, traceparent: presentTraceparent(), actor: 'apps' }
  return db.inWorkspace(context, async (tx) => {
    if (hasEnded) {
      await tx`
        delete from installation
        where workspace_id = ${workspaceId} and id = ${id} and state not in ('PENDING', 'ACTIVE')`
      return
    }
    await lockInstallation(tx, id)
    await uninstall(tx, id, 'app_deleted', SYSTEM_ACTOR, currentTime())
  })
}

/** Deletes an app that has no installation left. Its names stay taken (OP-225). */
async function deleteApp({ db, worker }: Deleting, id: string): Promise<void> {
  const left = await worker.sql`select from installation where app_id = ${id} limit 1`
  if (left.length > 0) return
  const context = { workspaceId: PLATFORM, livemode: true, traceparent: presentTraceparent(), actor: 'apps' }
  await db.inWorkspace(context, (tx) => tx`delete from app where id = ${id} and ${isDeleted(tx)}`)
}
