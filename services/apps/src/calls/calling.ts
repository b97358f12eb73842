import type { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { audienceOf } from '../apps/app-row.ts'
import { type Databases, findInstallation } from '../installation-rows/find-installation.ts'
import type { InstallationRow } from '../installation-rows/installation-row.ts'
import type { AppTokens, TokenSubject } from '../tokens/app-tokens.ts'
import type { AppConnection } from './call-app.ts'
import type { ClaimedCall } from './claim-calls.ts'
import type { PlatformClient } from './platform-client.ts'

/** What the calls to apps are made with. */
export interface Calling extends Databases {
  readonly platform: PlatformClient
  readonly tokens: AppTokens
  readonly app: AppConnection
  readonly secretKeys: SecretKeys
  /** Delay after each failed call, in milliseconds. */
  readonly schedule: readonly number[]
}

/** The installation of a call as it is now. */
export const installationOf = ({ db }: Calling, { context, installationId }: ClaimedCall): Promise<InstallationRow> =>
  db.inWorkspace(context, (tx) => findInstallation(tx, installationId))

/** The subject of a token for the app. */
export const tokenSubject = (row: InstallationRow, scopes: readonly string[]): TokenSubject => ({
  workspaceId: row.workspace_id,
  workspaceName: row.workspace_name,
  workspaceDomain: row.workspace_domain,
  provider: row.app_manifest.provider,
  audience: audienceOf(row.app_manifest),
  scopes,
})
