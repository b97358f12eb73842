import { App, AppStatus, Installation, SuspensionReason } from '@backoffice/contracts/app.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { RouteDeclaration } from '@backoffice/http/route.ts'
import { z } from 'zod'
import { type AnyAdminOperation, adminOperation } from './admin-operation.ts'

interface AppsDeclaration extends RouteDeclaration<z.ZodObject<{ id: z.ZodType<string> }>, typeof PageQuery> {
  readonly summary: string
  /** One answer. */
  readonly responses: Readonly<Record<number, z.ZodType | null>>
}

/**
 * Declares an admin operation that apps answers (OP-81): the same request, under `/internal` instead of `/admin/v1`, in
 * the operator's name.
 */
const appsOperation = (declaration: AppsDeclaration): AnyAdminOperation =>
  adminOperation({
    ...declaration,
    async handle({ params, query, body, askApps }) {
      const { method, path, responses } = declaration
      const internal = `/internal/${path.replace('/admin/v1/', '').replace('{id}', params.id)}` as const
      const [[status, answer = null] = []] = Object.entries(responses)
      return new Reply(Number(status), await askApps({ method, path: internal, answer, query, body }))
    },
  })

/** Apps checks manifests, and names wrong members (OP-80). */
const Manifest = z.looseObject({})
const Nothing = z.strictObject({})

/** The apps of the platform (OP-81). */
export const appOperations = {
  registerApp: appsOperation({
    method: 'POST',
    path: '/admin/v1/apps',
    summary: 'Register an app by its manifest',
    body: Manifest,
    responses: { 201: App },
  }),
  updateApp: appsOperation({
    method: 'PUT',
    path: '/admin/v1/apps/{id}',
    summary: 'Replace the manifest of an app',
    body: Manifest,
    responses: { 200: App },
  }),
  listApps: appsOperation({
    method: 'GET',
    path: '/admin/v1/apps',
    summary: 'List the apps of the platform',
    query: PageQuery,
    responses: { 200: Page(App) },
  }),
  getApp: appsOperation({
    method: 'GET',
    path: '/admin/v1/apps/{id}',
    summary: 'Read an app',
    responses: { 200: App },
  }),
  // OP-228
  suspendApp: appsOperation({
    method: 'POST',
    path: '/admin/v1/apps/{id}/suspend',
    summary: 'Stop an app in all workspaces',
    body: SuspensionReason,
    responses: { 200: AppStatus },
  }),
  resumeApp: appsOperation({
    method: 'POST',
    path: '/admin/v1/apps/{id}/resume',
    summary: 'Let a suspended app go on',
    body: Nothing.prefault({}),
    responses: { 200: AppStatus },
  }),
  // OP-229
  deleteApp: appsOperation({
    method: 'DELETE',
    path: '/admin/v1/apps/{id}',
    summary: 'Delete an app, and uninstall it in all workspaces',
    responses: { 202: AppStatus },
  }),
  getAppStatus: appsOperation({
    method: 'GET',
    path: '/admin/v1/apps/{id}/status',
    summary: 'Read whether an app is suspended or being deleted, and everywhere so',
    responses: { 200: AppStatus },
  }),
}

/** An installation, in the merchant's name where a merchant would decide (OP-81). */
export const installationOperations = {
  getInstallation: appsOperation({
    method: 'GET',
    path: '/admin/v1/installations/{id}',
    summary: 'Read an installation',
    responses: { 200: Installation },
  }),
  consentToInstallation: appsOperation({
    method: 'POST',
    path: '/admin/v1/installations/{id}/consent',
    summary: "Consent to an app in the merchant's name",
    body: Nothing.optional(),
    responses: { 200: Installation },
  }),
  declineInstallation: appsOperation({
    method: 'POST',
    path: '/admin/v1/installations/{id}/decline',
    summary: "Decline an app in the merchant's name",
    body: Nothing.optional(),
    responses: { 200: Installation },
  }),
  // OP-227
  provisionAgain: appsOperation({
    method: 'POST',
    path: '/admin/v1/installations/{id}/provision',
    summary: 'Give an app a new key and a new endpoint',
    body: Nothing.optional(),
    responses: { 202: Installation },
  }),
  // OP-84
  uninstallApp: appsOperation({
    method: 'DELETE',
    path: '/admin/v1/installations/{id}',
    summary: 'Uninstall an app',
    responses: { 202: null },
  }),
}
