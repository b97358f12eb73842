import { audienceOf } from '../apps/app-row.ts'
import type { TokenSubject } from '../tokens/app-tokens.ts'
import type { InstallationRow } from './installation-row.ts'

/** Of whom a token for the app speaks. */
export const tokenSubject = (row: InstallationRow, scopes: readonly string[]): TokenSubject => ({
  workspaceId: row.workspace_id,
  workspaceName: row.workspace_name,
  workspaceDomain: row.workspace_domain,
  provider: row.app_manifest.provider,
  audience: audienceOf(row.app_manifest),
  scopes,
})
