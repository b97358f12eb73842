import type { AnyOperation } from '@backoffice/http/operation.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { AnyAdminOperation } from './admin/admin-operation.ts'
import { appOperations } from './admin/apps/app-operations.ts'
import { listAudit } from './admin/audit/list-audit.ts'
import { installationOperations } from './admin/installations/installation-operations.ts'
import { pageOperations } from './admin/installations/page-operations.ts'
import { createKey } from './admin/keys/create-key.ts'
import { identifyKey } from './admin/keys/identify-key.ts'
import { listKeys } from './admin/keys/list-keys.ts'
import { revokeKey } from './admin/keys/revoke-key.ts'
import { rotateKey } from './admin/keys/rotate-key.ts'
import { createOperator } from './admin/operators/create-operator.ts'
import { deleteOperator } from './admin/operators/delete-operator.ts'
import { listOperators } from './admin/operators/list-operators.ts'
import { rotateOperator } from './admin/operators/rotate-operator.ts'
import { createWorkspace } from './admin/workspaces/create-workspace.ts'
import { deleteWorkspace } from './admin/workspaces/delete-workspace.ts'
import { getDeletion } from './admin/workspaces/get-deletion.ts'
import { listWorkspaces } from './admin/workspaces/list-workspaces.ts'
import { resumeWorkspace } from './admin/workspaces/resume-workspace.ts'
import { suspendWorkspace } from './admin/workspaces/suspend-workspace.ts'
import { updateSettings } from './admin/workspaces/update-settings.ts'
import { activateAppKey } from './app-keys/activate-app-key.ts'
import { putAppKey } from './app-keys/put-app-key.ts'
import { revokeAppKey } from './app-keys/revoke-app-key.ts'
import type { AppsClient } from './apps/apps-client.ts'
import type { KeyFormat } from './credentials/keys/key-format.ts'
import type { PageLinks } from './pages/links/page-links.ts'
import type { Upstreams } from './public/proxy/upstream.ts'

interface Operating {
  readonly apps: AppsClient
  readonly links: PageLinks
  readonly db: Database
  readonly format: KeyFormat
  readonly upstreams: Upstreams
  readonly signer: TokenSigner
}

/** The admin API (architecture: Admin API). */
export const operations = ({ apps, links, db, format, upstreams, signer }: Operating): readonly AnyAdminOperation[] => [
  createWorkspace,
  listWorkspaces,
  updateSettings,
  suspendWorkspace,
  resumeWorkspace,
  deleteWorkspace,
  createKey(format),
  listKeys,
  identifyKey(format),
  rotateKey(format),
  revokeKey,
  getDeletion({ db, upstreams, signer }),
  ...appOperations(apps),
  ...installationOperations(apps, links),
  ...pageOperations(apps, links),
  createOperator,
  listOperators,
  rotateOperator,
  deleteOperator,
  listAudit,
]

/** For other services, which sign their requests with the internal token. */
export const internalOperations = (format: KeyFormat): readonly AnyOperation[] => [
  putAppKey(format),
  activateAppKey,
  revokeAppKey,
]
