import type { AnyOperation } from '@backoffice/http/operation.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { AnyAdminOperation } from './admin/admin-operation.ts'
import { activateAppKey } from './app-keys/activate-app-key.ts'
import { putAppKey } from './app-keys/put-app-key.ts'
import { revokeAppKey } from './app-keys/revoke-app-key.ts'
import { appOperations } from './apps/app-operations.ts'
import type { AppsClient } from './apps/apps-client.ts'
import { installationOperations } from './apps/installation-operations.ts'
import { pageOperations } from './apps/page-operations.ts'
import { listAudit } from './audit/list-audit.ts'
import { getDeletion } from './deletions/get-deletion.ts'
import { createKey } from './keys/create-key.ts'
import { identifyKey } from './keys/identify-key.ts'
import type { KeyFormat } from './keys/key-format.ts'
import { listKeys } from './keys/list-keys.ts'
import { revokeKey } from './keys/revoke-key.ts'
import { rotateKey } from './keys/rotate-key.ts'
import { createOperator } from './operators/create-operator.ts'
import { deleteOperator } from './operators/delete-operator.ts'
import { listOperators } from './operators/list-operators.ts'
import { rotateOperator } from './operators/rotate-operator.ts'
import type { PageLinks } from './page-links/page-links.ts'
import type { Upstreams } from './proxy/upstream.ts'
import { createWorkspace } from './workspaces/create-workspace.ts'
import { deleteWorkspace } from './workspaces/delete-workspace.ts'
import { listWorkspaces } from './workspaces/list-workspaces.ts'
import { resumeWorkspace } from './workspaces/resume-workspace.ts'
import { suspendWorkspace } from './workspaces/suspend-workspace.ts'
import { updateSettings } from './workspaces/update-settings.ts'

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
