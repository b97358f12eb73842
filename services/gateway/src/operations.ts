import type { AnyAdminOperation } from './admin/admin-operation.ts'
import { listAudit } from './audit/list-audit.ts'
import { createKey } from './keys/create-key.ts'
import { listKeys } from './keys/list-keys.ts'
import { revokeKey } from './keys/revoke-key.ts'
import { rotateKey } from './keys/rotate-key.ts'
import { createWorkspace } from './workspaces/create-workspace.ts'
import { deleteWorkspace } from './workspaces/delete-workspace.ts'
import { listWorkspaces } from './workspaces/list-workspaces.ts'
import { resumeWorkspace } from './workspaces/resume-workspace.ts'
import { suspendWorkspace } from './workspaces/suspend-workspace.ts'
import { updateSettings } from './workspaces/update-settings.ts'

/** The admin API (architecture: Admin API). */
export const operations: readonly AnyAdminOperation[] = [
  createWorkspace,
  listWorkspaces,
  updateSettings,
  suspendWorkspace,
  resumeWorkspace,
  deleteWorkspace,
  createKey,
  listKeys,
  rotateKey,
  revokeKey,
  listAudit,
]
