import { PLATFORM } from '@backoffice/contracts/app.ts'
import { webhookUrl } from '@backoffice/contracts/app-manifest.ts'
import { ApiError } from '@backoffice/contracts/errors.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import { delayAfter } from '@backoffice/runtime/retry-schedule.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import { worker as loop } from '@backoffice/runtime/worker.ts'
import { noteFailure } from '@backoffice/runtime/worker-failures.ts'
import { NIL } from 'uuid'
import type { Calling } from '../calls/calling.ts'

type Sweeping = Pick<Calling, 'db' | 'worker' | 'platform' | 'schedule' | 'logger'>

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
  /** Of a provision under way. */
  readonly newKey: string | null
  readonly newEndpoint: string | null
}

/** Why an installation was not changed. */
interface Failure {
  readonly error: unknown
  readonly workspace_id: string
  readonly installation_id: string
}

const NAME = 'sweep of installations'
const EVERY_MS = 1000
/** The longest pause before what has failed is tried again: `WorkFailing` would not hear of rarer failures. */
const LONGEST_PAUSE_MS = 60_000
/** The pause after a sweep that could not go on, as without a database. */
const AFTER_BREAK_MS = 5000
/** Installations of one step; its requests to other services run at once. */
export const BATCH_SIZE = 20

/**
 * Brings what an operator changes of an app to its installations, workspace by workspace. May be repeated: after a
 * process has died, the next one begins after the last step before which nothing had failed. A workspace that fails
 * stops no other one: the sweep returns to it alone, after longer and longer pauses. A change waits for no sweep:
 * those of other apps go on beside it, and the one before of its own app ends.
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
    await sweep(sweeping, app, stopping)
  } catch (error) {
    noteFailure(sweeping.logger, NAME, error, { app_id: app.id })
    await pauseUnless(stopping, AFTER_BREAK_MS)
  }
}

/** Visits all installations once, and then those that failed until none does. */
async function sweep(sweeping: Sweeping, app: ChangedApp, stopping: AbortSignal): Promise<void> {
  let { sweptTo } = app
  let failed: string[] = []
  for (let after = sweptTo, isLast = false; !isLast && !stopping.aborted; ) {
    const batch = await installationsAfter(sweeping, app, after)
    failed.push(...(await bringChange(sweeping, app, batch)))
    isLast = batch.length < BATCH_SIZE
    after = batch.at(-1)?.id ?? after
    // What has failed stays behind the noted end: a process that dies leaves it to the next one.
    if (failed.length > 0 || isLast) continue
    await noteSwept(sweeping, { ...app, sweptTo }, after)
    sweptTo = after
  }
  for (let attempts = 0; failed.length > 0 && !stopping.aborted; attempts++) {
    await pauseUnless(stopping, pauseAfter(attempts, sweeping.schedule))
    const again = failed
    failed = []
    for (let n = 0; n < again.length && !stopping.aborted; n += BATCH_SIZE) {
      const batch = await installationsAfter(sweeping, app, NIL, again.slice(n, n + BATCH_SIZE))
      failed.push(...(await bringChange(sweeping, app, batch)))
    }
  }
  if (!stopping.aborted) await noteSwept(sweeping, { ...app, sweptTo }, null)
}

function pauseAfter(attempts: number, schedule: readonly number[]): number {
  const delayMs = delayAfter(Math.min(attempts, schedule.length - 1), schedule, Math.random())
  return Math.min(delayMs ?? LONGEST_PAUSE_MS, LONGEST_PAUSE_MS)
}

/**
 * The next installations, of `only` if that is given. None once the app has changed again: late, an older change would
 * undo what the newer one has done. None either once another replica has ended the sweep.
 */
const installationsAfter = (
  { worker: { sql } }: Sweeping,
  { id, version }: ChangedApp,
  after: string,
  only?: readonly string[],
) => sql<SweptInstallation[]>`
  select installation.workspace_id as "workspaceId", livemode, installation.id,
    array_remove(array[installation.key_id, call.key_id, call.former_key_id], null) as keys,
    call.key_id as "newKey", call.endpoint_id as "newEndpoint",
    (
      select coalesce(json_agg(json_build_object('id', endpoint.id, 'path', endpoint.path)), '[]')
      from (values
        (installation.endpoint_id, installation.manifest #>> '{webhooks,path}'),
        (call.endpoint_id, call.manifest #>> '{webhooks,path}')
      ) as endpoint (id, path)
      where endpoint.id is not null and endpoint.path is not null
    ) as endpoints
  from installation
  join app on app.id = installation.app_id and app.version = ${version} and app.swept_to is not null
  left join call on call.workspace_id = installation.workspace_id and call.installation_id = installation.id
  where installation.app_id = ${id} and installation.id > ${after} and state in ('PENDING', 'ACTIVE')
    ${only === undefined ? sql`` : sql`and installation.id = any(${only}::uuid[])`}
  order by installation.id
  limit ${BATCH_SIZE}`

/**
 * Brings installations what their app has now. Returns the ids of those where it could not, as when a service does not
 * answer; notes the first of these.
 */
async function bringChange(
  sweeping: Sweeping,
  app: ChangedApp,
  batch: readonly SweptInstallation[],
): Promise<string[]> {
  const results = await Promise.all(
    batch.map((installation) =>
      changeInstalled(sweeping, app, installation).then(
        () => undefined,
        (error: unknown): Failure => ({
          error,
          workspace_id: installation.workspaceId,
          installation_id: installation.id,
        }),
      ),
    ),
  )
  const failures = results.filter((result) => result !== undefined)
  const [first] = failures
  if (first !== undefined) {
    const { error, ...ids } = first
    noteFailure(sweeping.logger, NAME, error, { app_id: app.id, ...ids })
  }
  return failures.map(({ installation_id }) => installation_id)
}

async function changeInstalled(
  { platform, logger }: Sweeping,
  app: ChangedApp,
  installation: SweptInstallation,
): Promise<void> {
  const { id, keys, endpoints, newKey, newEndpoint, workspaceId, livemode } = installation
  const context = { workspaceId, livemode, traceparent: presentTraceparent(), actor: 'apps' }
  if (app.suspensionChangedAt !== null) {
    const change = app.isSuspended ? 'suspend' : 'resume'
    const at = app.suspensionChangedAt.toISOString()
    for (const key of keys) await platform.changeKey(context, key, change, at)
    const installed = { installation: id, provider: app.provider }
    // An attempt that died may have left the endpoint without the app that it is of.
    if (newKey !== null) await platform.registerKey(context, newKey, { ...installed, endpoint: newEndpoint })
    await platform.changeDeliveries(context, installed, change, at)
  }
  const urlAt = (path: string) => (at: string) => webhookUrl(path, at, workspaceId).href
  for (const { id, path } of app.formerOrigins.length > 0 ? endpoints : []) {
    const former = app.formerOrigins.map(urlAt(path))
    await platform.moveEndpoint(context, id, { url: urlAt(path)(app.origin), former }).catch((error: unknown) => {
      // A host that is not public, say. Another origin brings a sweep of its own, and so does a resumption.
      if (!(error instanceof ApiError && error.code === 'unprocessable')) throw error
      const ids = { app_id: app.id, workspace_id: workspaceId, installation_id: installation.id, endpoint_id: id }
      noteFailure(logger, NAME, error, ids, 'it was refused for good')
    })
  }
}

/** Notes how far the sweep has come, unless the app has changed again, or another replica was here. */
const noteSwept = ({ db }: Sweeping, { id, version, sweptTo }: ChangedApp, to: string | null) =>
  db.inWorkspace(
    { workspaceId: PLATFORM, livemode: true, traceparent: presentTraceparent(), actor: 'apps' },
    (tx) => tx`
      update app set swept_to = ${to} where id = ${id} and version = ${version} and swept_to = ${sweptTo}`,
  )
