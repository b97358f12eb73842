import { InstalledApp } from '@backoffice/contracts/app.ts'
import { Provider } from '@backoffice/contracts/app-manifest.ts'
import { type ApiError, notFound } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { findInstallations, installedAppBody } from '../apps/installation-rows.ts'

/** GET /v1/apps/{provider} (extension): an app of the workspace, as long as it is not uninstalled (OP-152). */
export const getInstalledApp = operation({
  method: 'GET',
  path: '/v1/apps/{provider}',
  operationId: 'getApp',
  summary: 'Get an app of the workspace',
  scope: 'app::read',
  params: z.strictObject({ provider: Provider }),
  responses: { 200: InstalledApp },
  openPoints: ['OP-152'],
  extension: true,

  handle: ({ params: { provider }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const isThis = tx`installation.state in ('PENDING', 'ACTIVE') and app.provider = ${provider}`
      const [row] = await findInstallations(tx, isThis)
      if (row === undefined) throw noSuchInstalledApp(provider)
      return ok(installedAppBody(row))
    }),
})

export const noSuchInstalledApp = (provider: string): ApiError =>
  notFound(['provider'], `this workspace has no app ${provider}`)
