import { App } from '@backoffice/contracts/app.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { created, ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import type { AppsClient } from '../../apps/apps-client.ts'
import { askedBy, queryText } from '../../apps/asked-by.ts'
import { type AnyAdminOperation, adminOperation } from '../admin-operation.ts'

/** Apps checks the members and names those that are wrong. */
const Unchecked = z.looseObject({})
const params = z.strictObject({ id: Id })

/** `/admin/v1/apps` (OP-81): the apps of the platform. The service apps answers. */
export const appOperations = (apps: AppsClient): AnyAdminOperation[] => [
  adminOperation({
    method: 'POST',
    path: '/admin/v1/apps',
    summary: 'Register an app',
    body: Unchecked,
    responses: { 201: App },
    openPoints: ['OP-80', 'OP-81'],
    handle: async (input) => created(await apps.send(askedBy(input), 'POST', '/internal/apps', App, input.body)),
  }),
  adminOperation({
    method: 'PUT',
    path: '/admin/v1/apps/{id}',
    summary: 'Replace the manifest of an app',
    params,
    body: Unchecked,
    responses: { 200: App },
    openPoints: ['OP-80', 'OP-81'],
    handle: async (input) =>
      ok(await apps.send(askedBy(input), 'PUT', `/internal/apps/${input.params.id}`, App, input.body)),
  }),
  adminOperation({
    method: 'GET',
    path: '/admin/v1/apps',
    summary: 'List the apps',
    query: PageQuery,
    responses: { 200: Page(App) },
    openPoints: ['OP-81'],
    handle: async (input) =>
      ok(await apps.send(askedBy(input), 'GET', `/internal/apps${queryText(input.query)}`, Page(App))),
  }),
  adminOperation({
    method: 'GET',
    path: '/admin/v1/apps/{id}',
    summary: 'Get an app',
    params,
    responses: { 200: App },
    openPoints: ['OP-81'],
    handle: async (input) => ok(await apps.send(askedBy(input), 'GET', `/internal/apps/${input.params.id}`, App)),
  }),
]
