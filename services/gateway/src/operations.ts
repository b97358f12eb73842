import type { AnyOperation } from '@backoffice/http/operation.ts'
import type { AnyAdminOperation } from './admin/admin-operation.ts'
import { activateAppKey } from './app-keys/activate-app-key.ts'
import { putAppKey } from './app-keys/put-app-key.ts'
import { revokeAppKey } from './app-keys/revoke-app-key.ts'
import { appOperations } from './apps/app-operations.ts'
import type { AppsClient } from './apps/apps-client.ts'
import { installationOperations } from './apps/installation-operations.ts'
import { pageOperations } from './apps/page-operations.ts'
import { listAudit } from './audit/list-audit.ts'
import { createKey } from './keys/create-key.ts'
import { listKeys } from './keys/list-keys.ts'
import { revokeKey } from './keys/revoke-key.ts'
import { rotateKey } from './keys/rotate-key.ts'
import type { PageLinks } from './page-links/page-links.ts'
import { createWorkspace } from './workspaces/create-workspace.ts'
import { listWorkspaces } from './workspaces/list-workspaces.ts'
import { updateSettings } from './workspaces/update-settings.ts'

/** The admin API (architecture: Admin API). */
export const operations = (apps: AppsClient, links: PageLinks): readonly AnyAdminOperation[] => [
  createWorkspace,
  listWorkspaces,
  updateSettings,
  createKey,
  listKeys,
  rotateKey,
  revokeKey,
  ...appOperations(apps),
  ...installationOperations(apps, links),
  ...pageOperations(apps, links),
  listAudit,
]

/** For other services, which sign their requests with the internal token. */
export const internalOperations: readonly AnyOperation[] = [putAppKey, activateAppKey, revokeAppKey]
