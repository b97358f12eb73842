import type { AnyOperation } from '@backoffice/http/operation.ts'
import type { AnyAdminOperation } from './admin/admin-operation.ts'
import { activateAppKey } from './app-keys/activate-app-key.ts'
import { putAppKey } from './app-keys/put-app-key.ts'
import { revokeAppKey } from './app-keys/revoke-app-key.ts'
import { listAudit } from './audit/list-audit.ts'
import { createKey } from './keys/create-key.ts'
import { identifyKey } from './keys/identify-key.ts'
import { listKeys } from './keys/list-keys.ts'
import { revokeKey } from './keys/revoke-key.ts'
import { rotateKey } from './keys/rotate-key.ts'
import { createOperator } from './operators/create-operator.ts'
import { deleteOperator } from './operators/delete-operator.ts'
import { listOperators } from './operators/list-operators.ts'
import { rotateOperator } from './operators/rotate-operator.ts'
import { createWorkspace } from './workspaces/create-workspace.ts'
import { listWorkspaces } from './workspaces/list-workspaces.ts'
import { updateSettings } from './workspaces/update-settings.ts'

/** The admin API (architecture: Admin API). */
export const operations: readonly AnyAdminOperation[] = [
  createWorkspace,
  listWorkspaces,
  updateSettings,
  createKey,
  listKeys,
  identifyKey,
  rotateKey,
  revokeKey,
  createOperator,
  listOperators,
  rotateOperator,
  deleteOperator,
  listAudit,
]

/** For other services, which sign their requests with the internal token. */
export const internalOperations: readonly AnyOperation[] = [putAppKey, activateAppKey, revokeAppKey]
