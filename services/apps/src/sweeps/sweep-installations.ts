import { PLATFORM } from '@backoffice/contracts/app.ts'
import { webhookUrl } from '@backoffice/contracts/app-manifest.ts'
import { ApiError } from '@backoffice/contracts/errors.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import { worker as loop } from '@backoffice/runtime/worker.ts'
import type { Calling } from '../calls/calling.ts'

type Sweeping = Pick<Calling, 'db' | 'worker' | 'platform' | 'logger'>

/** An app that has changed, with installations that the change has not reached. */
interface ChangedApp {
  readonly id: string
  readonly origin: string
  readonly formerOrigins: string[]
  readonly version: number
  readonly sweptTo: string
}

interface SweptInstallation extends Pick<WorkspaceContext, 'workspaceId' | 'livemode'> {
  readonly id: string
  /** Its endpoints with the path that the merchant consented to: its own, and that of a provision under way. */
  readonly endpoints: readonly { readonly id: string; readonly path: string }[]
}

const EVERY_MS = 1000
/** Installations of one step; its requests to other services run at once. */
const BATCH_SIZE = 20

/**
 * Brings what an operator changes of an app to its installations, workspace by workspace. May be repeated: a process
 * that dies begins after the last step that was complete. A workspace that fails stops no other one, and the sweep
 * returns to it.
 */
export function sweepInstallations(sweeping: Sweeping): Component {
  return loop({
    name: 'sweep of installations',
    everyMs: EVERY_MS,
    logger: sweeping.logger,
    async work(stopping) {
      const changed = await sweeping.worker.sql<ChangedApp[]>`
        select id, origin, former_origins as "formerOrigins", version, swept_to as "sweptTo"
        from app where swept_to is not null order by id`
      for (const app of changed) await sweep(sweeping, app, stopping)
    },
  })
}

async function sweep(sweeping: Sweeping, app: ChangedApp, stopping: AbortSignal): Promise<void> {
  let failure: unknown
  let sweptTo = app.sweptTo
  while (!stopping.aborted) {
    const batch = await installationsAfter(sweeping, app.id, sweptTo)
    const results = await Promise.allSettled(batch.map((installation) => bringChange(sweeping, app, installation)))
    failure ??= results.find((result) => result.status === 'rejected')?.reason
    const isDone = batch.length < BATCH_SIZE
    // What has failed is before the noted end: the next run comes to it again.
    if (failure === undefined)
      await noteSwept(sweeping, { ...app, sweptTo }, isDone ? null : (batch.at(-1)?.id ?? null))
    if (isDone) break
    sweptTo = batch.at(-1)?.id ?? sweptTo
  }
  if (failure !== undefined) throw failure
}

const installationsAfter = ({ worker }: Sweeping, appId: string, sweptTo: string) => worker.sql<SweptInstallation[]>`
  select installation.workspace_id as "workspaceId", livemode, id, (
    select coalesce(json_agg(json_build_object('id', endpoint.id, 'path', endpoint.path)), '[]')
    from (values
      (installation.endpoint_id, installation.manifest #>> '{webhooks,path}'),
      (call.endpoint_id, call.manifest #>> '{webhooks,path}')
    ) as endpoint (id, path)
    where endpoint.id is not null and endpoint.path is not null
  ) as endpoints
  from installation
  left join call on call.workspace_id = installation.workspace_id and call.installation_id = installation.id
  where installation.app_id = ${appId} and id > ${sweptTo} and state in ('PENDING', 'ACTIVE')
  order by id
  limit ${BATCH_SIZE}`

/** Brings one installation what its app has now. Throws when a service does not answer. */
async function bringChange(
  { platform }: Sweeping,
  { origin, formerOrigins }: ChangedApp,
  { endpoints, workspaceId, livemode }: SweptInstallation,
): Promise<void> {
  const context = { workspaceId, livemode, traceparent: presentTraceparent(), actor: 'apps' }
  const urlAt = (path: string) => (at: string) => webhookUrl(path, at, workspaceId).href
  try {
    for (const { id, path } of endpoints) {
      await platform.moveEndpoint(context, id, { url: urlAt(path)(origin), former: formerOrigins.map(urlAt(path)) })
    }
  } catch (error) {
    // The workspace is being deleted: nothing of it is left to change.
    if (!(error instanceof ApiError && error.code === 'not_found')) throw error
  }
}

/** Notes how far the sweep has come, unless the app has changed again, or another replica was here. */
const noteSwept = ({ db }: Sweeping, { id, version, sweptTo }: ChangedApp, to: string | null) =>
  db.inWorkspace(
    { workspaceId: PLATFORM, livemode: true, traceparent: presentTraceparent(), actor: 'apps' },
    (tx) => tx`
      update app set swept_to = ${to} where id = ${id} and version = ${version} and swept_to = ${sweptTo}`,
  )
