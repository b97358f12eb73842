import { PLATFORM } from '@backoffice/contracts/app.ts'
import { webhookUrl } from '@backoffice/contracts/app-manifest.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import { worker as loop } from '@backoffice/runtime/worker.ts'
import { noteFailure } from '@backoffice/runtime/worker-failures.ts'
import type { Calling } from '../calls/calling.ts'

type Sweeping = Pick<Calling, 'db' | 'worker' | 'platform' | 'logger'>

/** An app that has changed, with installations that the change has not reached. */
interface ChangedApp {
  readonly id: string
  readonly provider: string
  readonly origin: string
  readonly formerOrigins: string[]
  readonly isSuspended: boolean
  /** Of the last suspension or resumption; null for an app that never had one. */
  readonly suspensionChangedAt: Date | null
  readonly version: number
  readonly sweptTo: string
}

interface SweptInstallation extends Pick<WorkspaceContext, 'workspaceId' | 'livemode'> {
  readonly id: string
  /** Its own keys, and those of a provision under way. */
  readonly keys: readonly string[]
  /** Its endpoints, likewise, with the path that the merchant consented to. */
  readonly endpoints: readonly { readonly id: string; readonly path: string }[]
}

/** Why an installation was not changed. */
interface Failure {
  readonly error: unknown
  readonly workspace_id: string
}

const NAME = 'sweep of installations'
const EVERY_MS = 1000
/** The pause after a sweep that failed. Without it, an installation that keeps failing would be asked all the time. */
const AFTER_FAILURE_MS = 5000
/** Installations of one step; its requests to other services run at once. */
export const BATCH_SIZE = 20

/**
 * Brings what an operator changes of an app to its installations, workspace by workspace. May be repeated: a process
 * that dies begins after the last step that was complete. A workspace that fails stops no other one, and the sweep
 * returns to it. A change waits for no other one: neither for that of an app with many installations, nor for the one
 * before of its own app, which ends.
 */
export function sweepInstallations(sweeping: Sweeping): Component {
  /** By app and version. */
  const sweeps = new Tasks<string>()
  return loop({
    name: NAME,
    everyMs: EVERY_MS,
    logger: sweeping.logger,
    tasks: sweeps,
    async work(stopping) {
      const changed = await sweeping.worker.sql<ChangedApp[]>`
        select id, provider, origin, former_origins as "formerOrigins", version, swept_to as "sweptTo",
          suspended_at is not null as "isSuspended", suspension_changed_at as "suspensionChangedAt"
        from app where swept_to is not null order by id`
      for (const app of changed) {
        const change = `${app.id} ${app.version}`
        if (!sweeps.has(change)) sweeps.begin(change, () => sweepOrPause(sweeping, app, stopping))
      }
    },
  })
}

async function sweepOrPause(sweeping: Sweeping, app: ChangedApp, stopping: AbortSignal): Promise<void> {
  try {
    const failure = await sweep(sweeping, app, stopping)
    if (failure === undefined) return
    noteFailure(sweeping.logger, NAME, failure.error, { app_id: app.id, workspace_id: failure.workspace_id })
  } catch (error) {
    noteFailure(sweeping.logger, NAME, error, { app_id: app.id })
  }
  await pauseUnless(stopping, AFTER_FAILURE_MS)
}

/** Returns the first failure. */
async function sweep(sweeping: Sweeping, app: ChangedApp, stopping: AbortSignal): Promise<Failure | undefined> {
  let failure: Failure | undefined
  let sweptTo = app.sweptTo
  while (!stopping.aborted) {
    const batch = await installationsAfter(sweeping, app, sweptTo)
    const results = await Promise.all(batch.map((installation) => bringChange(sweeping, app, installation)))
    failure ??= results.find((result) => result !== undefined)
    const isDone = batch.length < BATCH_SIZE
    // What has failed is before the noted end: the next run comes to it again.
    if (failure === undefined)
      await noteSwept(sweeping, { ...app, sweptTo }, isDone ? null : (batch.at(-1)?.id ?? null))
    if (isDone) break
    sweptTo = batch.at(-1)?.id ?? sweptTo
  }
  return failure
}

/** None once the app has changed again: late, an older change would undo what the newer one has done. */
const installationsAfter = ({ worker }: Sweeping, { id, version }: ChangedApp, sweptTo: string) => worker.sql<
  SweptInstallation[]
>`
  select installation.workspace_id as "workspaceId", livemode, installation.id,
    array_remove(array[installation.key_id, call.key_id, call.former_key_id], null) as keys,
    (
      select coalesce(json_agg(json_build_object('id', endpoint.id, 'path', endpoint.path)), '[]')
      from (values
        (installation.endpoint_id, installation.manifest #>> '{webhooks,path}'),
        (call.endpoint_id, call.manifest #>> '{webhooks,path}')
      ) as endpoint (id, path)
      where endpoint.id is not null and endpoint.path is not null
    ) as endpoints
  from installation
  join app on app.id = installation.app_id and app.version = ${version}
  left join call on call.workspace_id = installation.workspace_id and call.installation_id = installation.id
  where installation.app_id = ${id} and installation.id > ${sweptTo} and state in ('PENDING', 'ACTIVE')
  order by installation.id
  limit ${BATCH_SIZE}`

/** Brings one installation what its app has now. Returns why it could not, as when a service does not answer. */
const bringChange = (sweeping: Sweeping, app: ChangedApp, installation: SweptInstallation) =>
  changeInstalled(sweeping, app, installation).then(
    () => undefined,
    (error: unknown): Failure => ({ error, workspace_id: installation.workspaceId }),
  )

async function changeInstalled(
  { platform }: Sweeping,
  app: ChangedApp,
  installation: SweptInstallation,
): Promise<void> {
  const { id, keys, endpoints, workspaceId, livemode } = installation
  const context = { workspaceId, livemode, traceparent: presentTraceparent(), actor: 'apps' }
  if (app.suspensionChangedAt !== null) {
    const change = app.isSuspended ? 'suspend' : 'resume'
    const at = app.suspensionChangedAt.toISOString()
    for (const key of keys) await platform.changeKey(context, key, change, at)
    await platform.changeDeliveries(context, { installation: id, provider: app.provider }, change, at)
  }
  const urlAt = (path: string) => (at: string) => webhookUrl(path, at, workspaceId).href
  for (const { id, path } of app.formerOrigins.length > 0 ? endpoints : []) {
    const former = app.formerOrigins.map(urlAt(path))
    await platform.moveEndpoint(context, id, { url: urlAt(path)(app.origin), former })
  }
}

/** Notes how far the sweep has come, unless the app has changed again, or another replica was here. */
const noteSwept = ({ db }: Sweeping, { id, version, sweptTo }: ChangedApp, to: string | null) =>
  db.inWorkspace(
    { workspaceId: PLATFORM, livemode: true, traceparent: presentTraceparent(), actor: 'apps' },
    (tx) => tx`
      update app set swept_to = ${to} where id = ${id} and version = ${version} and swept_to = ${sweptTo}`,
  )
