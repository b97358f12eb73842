import type { AnyOperation } from '@backoffice/http/operation.ts'
import type { Resolve } from '@backoffice/outbound/forbidden-target.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import { deleteApp } from './apps/delete-app.ts'
import { getApp } from './apps/get-app.ts'
import { getAppStatus } from './apps/get-app-status.ts'
import { listApps } from './apps/list-apps.ts'
import { registerApp } from './apps/register-app.ts'
import { resumeApp, suspendApp } from './apps/suspend-app.ts'
import { updateApp } from './apps/update-app.ts'
import type { Calling } from './calls/calling.ts'
import { createDraft } from './drafts/create-draft.ts'
import { deleteDraft } from './drafts/delete-draft.ts'
import { getDraft } from './drafts/get-draft.ts'
import { installDraft } from './drafts/install-draft.ts'
import { listDrafts } from './drafts/list-drafts.ts'
import type { OwnWorkspace } from './drafts/own-workspaces.ts'
import { updateDraft } from './drafts/update-draft.ts'
import { consentToInstallation } from './installations/consent.ts'
import { createCheckout } from './installations/create-checkout.ts'
import { declineInstallation } from './installations/decline.ts'
import { deleteInstalledApp } from './installations/delete-installed-app.ts'
import { getInstallation } from './installations/get-installation.ts'
import { getInstalledApp } from './installations/get-installed-app.ts'
import { installApp } from './installations/install-app.ts'
import { listAllInstallations } from './installations/list-all-installations.ts'
import { listInstallations } from './installations/list-installations.ts'
import { listInstalledApps } from './installations/list-installed-apps.ts'
import { openSession } from './installations/open-session.ts'
import { provisionAgain, provisionForKey } from './installations/provision-again.ts'
import { uninstallApp } from './installations/uninstall-app.ts'

interface Operating extends Pick<Calling, 'db' | 'worker' | 'tokens' | 'app' | 'secretKeys'> {
  readonly policy: TargetPolicy
  readonly resolve: Resolve
  /** The caller's workspace, as the gateway knows it. */
  workspaceOf(context: WorkspaceContext): Promise<OwnWorkspace>
  /** Wakes the worker that calls apps. */
  wake(): void
}

/**
 * The service's API. Besides `/v1/apps` and `/v1/sandbox/apps` it is internal: the gateway's admin API and pages, and
 * orders, call it.
 */
export const operations = ({ policy, resolve, ...operating }: Operating): AnyOperation[] => [
  registerApp(policy, resolve),
  updateApp(policy, resolve),
  listApps,
  getApp,
  getAppStatus,
  suspendApp,
  resumeApp(operating),
  deleteApp,
  installApp,
  listInstallations,
  listAllInstallations(operating),
  getInstallation(operating),
  consentToInstallation(operating),
  declineInstallation(operating),
  provisionAgain(operating),
  provisionForKey(operating),
  openSession(operating),
  uninstallApp(operating),
  createCheckout({ ...operating, policy, resolve }),
  listInstalledApps,
  getInstalledApp,
  deleteInstalledApp(operating),
  createDraft({ ...operating, policy, resolve }),
  listDrafts,
  getDraft,
  updateDraft(policy, resolve),
  deleteDraft,
  installDraft(operating),
]
