import type { Database, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { workspacesInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import { worker as loop } from '@backoffice/runtime/worker.ts'
import { noteFailure } from '@backoffice/runtime/worker-failures.ts'
import type { InstallationRow } from '../apps/installation-rows.ts'
import type { ClaimedCall } from './claim-calls.ts'
import type { PlatformClient } from './platform-client.ts'

interface Registering {
  readonly db: Database
  /** Finds the installations of all workspaces. */
  readonly worker: Database
  readonly platform: PlatformClient
  readonly logger: Logger
}

const NAME = 'registration of app keys'
/** The pause after a round through the workspaces, and after a failure, in milliseconds. */
const EVERY_MS = 5000

/** A workspace with keys that are not registered. */
interface Unregistered extends Pick<WorkspaceContext, 'workspaceId' | 'livemode'> {
  readonly keys: readonly {
    readonly installation: string
    readonly provider: string
    readonly keyId: string
    readonly endpoint: string | null
  }[]
}

/** Registers the keys of a provision at webhook-delivery, so that what they make is the app's (OP-231). */
export async function registerKey(
  { platform }: Pick<Registering, 'platform'>,
  { id: installation, app_manifest: { provider } }: Pick<InstallationRow, 'id' | 'app_manifest'>,
  { context, keyId, endpointId, formerKeyId, formerEndpointId }: ClaimedCall,
): Promise<void> {
  const of = { installation, provider }
  if (formerKeyId !== null) await platform.registerKey(context, formerKeyId, { ...of, endpoint: formerEndpointId })
  if (keyId !== null) await platform.registerKey(context, keyId, { ...of, endpoint: endpointId })
}

/**
 * Registers the keys of installations that are ACTIVE since before keys were registered, workspace by workspace. One
 * that fails holds up no other.
 */
export function registerKeys({ db, worker, platform, logger }: Registering) {
  const next = workspacesInTurn<Unregistered>(
    worker.sql,
    () => worker.sql`
      select workspace_id as "workspaceId", livemode, json_agg(json_build_object(
        'installation', installation.id, 'provider', provider, 'keyId', key_id, 'endpoint', endpoint_id
      )) as keys
      from installation join app on app.id = app_id
      where state = 'ACTIVE' and registered_key_id is distinct from key_id
      group by workspace_id, livemode`,
  )
  return loop({
    name: NAME,
    everyMs: EVERY_MS,
    logger,
    async work() {
      const found = await next()
      if (found === undefined) return EVERY_MS
      const { workspaceId, livemode, keys } = found
      const context = { workspaceId, livemode, traceparent: presentTraceparent(), actor: 'apps' }
      let pauseMs = 0
      for (const { keyId, ...of } of keys) {
        try {
          await platform.registerKey(context, keyId, of)
          await db.inWorkspace(
            context,
            (tx) => tx`
              update installation set registered_key_id = ${keyId}
              where workspace_id = ${workspaceId} and id = ${of.installation} and key_id = ${keyId}`,
          )
        } catch (error) {
          noteFailure(logger, NAME, error, { workspace_id: workspaceId, installation_id: of.installation })
          pauseMs = EVERY_MS
        }
      }
      return pauseMs
    },
  })
}
