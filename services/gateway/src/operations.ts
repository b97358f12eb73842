import type { AnyOperation } from '@backoffice/http/operation.ts'
import type { AnyAdminOperation } from './admin/admin-operation.ts'
import { appOperations, installationOperations } from './admin/apps-operations.ts'
import { listAudit } from './admin/audit/list-audit.ts'
import { getCheckRun } from './admin/checks/get-check-run.ts'
import { listChecks } from './admin/checks/list-checks.ts'
import { startCheckRun } from './admin/checks/start-check-run.ts'
import { createConsoleLink } from './admin/console/create-console-link.ts'
import { endConsoleSession } from './admin/console/end-console-session.ts'
import { countAllDeadLetters } from './admin/dead-letters/count-dead-letters.ts'
import { getDeadLetter } from './admin/dead-letters/get-dead-letter.ts'
import { listDeadLetters } from './admin/dead-letters/list-dead-letters.ts'
import { replayAllDeadLetters } from './admin/dead-letters/replay-dead-letters.ts'
import { createLink } from './admin/installations/create-link.ts'
import { listAllInstallations } from './admin/installations/list-all-installations.ts'
import { listInstallations } from './admin/installations/list-installations.ts'
import { openSession } from './admin/installations/open-session.ts'
import { requestInstallation } from './admin/installations/request-installation.ts'
import { createKey } from './admin/keys/create-key.ts'
import { identifyKey } from './admin/keys/identify-key.ts'
import { listKeys } from './admin/keys/list-keys.ts'
import { revokeKey } from './admin/keys/revoke-key.ts'
import { rotateKey } from './admin/keys/rotate-key.ts'
import { createOperator } from './admin/operators/create-operator.ts'
import { deleteOperator } from './admin/operators/delete-operator.ts'
import { listOperators } from './admin/operators/list-operators.ts'
import { rotateOperator } from './admin/operators/rotate-operator.ts'
import { getOutbox } from './admin/outbox/get-outbox.ts'
import { listRefusedRows } from './admin/outbox/list-refused-rows.ts'
import { resendRefusedRows } from './admin/outbox/resend-refused-rows.ts'
import { getRequest } from './admin/requests/get-request.ts'
import { endSupportSession } from './admin/support/end-support-session.ts'
import { listSupportSessions } from './admin/support/list-support-sessions.ts'
import { openSupportSession } from './admin/support/open-support-session.ts'
import { createWorkspace } from './admin/workspaces/create-workspace.ts'
import { deleteWorkspace } from './admin/workspaces/delete-workspace.ts'
import { getDeletion } from './admin/workspaces/get-deletion.ts'
import { getEndpointsHealth } from './admin/workspaces/get-endpoints-health.ts'
import { getWorkspace } from './admin/workspaces/get-workspace.ts'
import { getWorkspaceLimits } from './admin/workspaces/get-workspace-limits.ts'
import { listFailingEndpoints } from './admin/workspaces/list-failing-endpoints.ts'
import { listWorkspaces } from './admin/workspaces/list-workspaces.ts'
import { resumeWorkspace } from './admin/workspaces/resume-workspace.ts'
import { suspendWorkspace } from './admin/workspaces/suspend-workspace.ts'
import { updateSettings } from './admin/workspaces/update-settings.ts'
import { activateAppKey } from './app-keys/activate-app-key.ts'
import { getOwnWorkspace } from './app-keys/get-own-workspace.ts'
import { putAppKey } from './app-keys/put-app-key.ts'
import { revokeAppKey } from './app-keys/revoke-app-key.ts'
import { resumeAppKey, suspendAppKey } from './app-keys/suspend-app-key.ts'
import type { KeyFormat } from './credentials/keys/key-format.ts'
import { getLimits } from './public/account/get-limits.ts'
import { getMe } from './public/account/get-me.ts'
import { getUsage } from './public/account/get-usage.ts'
import type { RateLimit } from './public/rate-limit/token-bucket.ts'
import { getSandboxReset } from './public/sandbox/get-sandbox-reset.ts'
import { resetSandbox } from './public/sandbox/reset-sandbox.ts'

/** The admin API (architecture: Admin API), by the operation ids of its document. */
export const adminOperations = {
  createWorkspace,
  listWorkspaces,
  getWorkspace,
  getEndpointsHealth,
  listFailingEndpoints,
  getWorkspaceLimits,
  updateSettings,
  createConsoleLink,
  suspendWorkspace,
  resumeWorkspace,
  deleteWorkspace,
  getDeletion,
  openSupportSession,
  listSupportSessions,
  endSupportSession,
  endConsoleSession,
  createKey,
  listKeys,
  identifyKey,
  rotateKey,
  revokeKey,
  ...appOperations,
  requestInstallation,
  listAllInstallations,
  listInstallations,
  ...installationOperations,
  createLink,
  openSession,
  createOperator,
  listOperators,
  rotateOperator,
  deleteOperator,
  listAudit,
  getRequest,
  countDeadLetters: countAllDeadLetters,
  listDeadLetters,
  getDeadLetter,
  replayDeadLetters: replayAllDeadLetters,
  getOutbox,
  listRefusedRows,
  resendRefusedRows,
  startCheckRun,
  getCheckRun,
  listChecks,
} satisfies Readonly<Record<string, AnyAdminOperation>>

/** Those of `/v1` that the gateway answers itself. */
export const ownOperations = ({
  standardLimit,
  ...asking
}: Parameters<typeof getSandboxReset>[0] & { readonly standardLimit: RateLimit }): readonly AnyOperation[] => [
  getMe(standardLimit),
  getUsage(asking),
  getLimits(standardLimit, asking),
  resetSandbox(asking),
  getSandboxReset(asking),
]

/** For other services, which sign their requests with the internal token. */
export const internalOperations = (format: KeyFormat): readonly AnyOperation[] => [
  putAppKey(format),
  activateAppKey,
  revokeAppKey,
  suspendAppKey,
  resumeAppKey,
  getOwnWorkspace,
]
