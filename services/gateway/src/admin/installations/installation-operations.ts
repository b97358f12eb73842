import { Installation } from '@backoffice/contracts/app.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { accepted, created, ok } from '@backoffice/http/reply.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import type { AppsClient } from '../../apps/apps-client.ts'
import { askedBy, queryText } from '../../apps/asked-by.ts'
import type { PageLinks } from '../../pages/links/page-links.ts'
import { type AnyAdminOperation, adminOperation } from '../admin-operation.ts'
import { unknownWorkspace } from '../workspaces/find-workspace.ts'

const params = z.strictObject({ id: Id })

/** With a one-time link to the consent page; null where nothing waits for consent. */
const InstallationToConsent = z.strictObject({ ...Installation.shape, consent_url: z.url().nullable() })

/** `/admin/v1/…/installations` (OP-81): apps in workspaces. The service apps answers. */
export const installationOperations = (apps: AppsClient, links: PageLinks): AnyAdminOperation[] => [
  adminOperation({
    method: 'POST',
    path: '/admin/v1/workspaces/{id}/installations',
    summary: 'Ask for an app to be installed in a workspace',
    params,
    body: z.strictObject({ provider: z.string() }),
    responses: { 201: InstallationToConsent },
    openPoints: ['OP-81'],
    async handle(input) {
      const { name, domain, ...workspace } = await workspaceOf(input.worker, input.params.id)
      const body = { ...input.body, workspace: { name, domain } }
      const request = askedBy(input, workspace)
      const installation = await apps.send(request, 'POST', '/internal/installations', Installation, body)
      const { id, provider, requested_scopes } = installation
      if (requested_scopes.length === 0) return created({ ...installation, consent_url: null })
      const acts = [{ action: 'link.created' as const, target: `installations/${id}` }]
      return input.act(workspace.id, acts, async (tx) => {
        const { url } = await links.create(tx, { page: 'consent', provider, installationId: id })
        return created({ ...installation, consent_url: url })
      })
    },
  }),
  adminOperation({
    method: 'GET',
    path: '/admin/v1/workspaces/{id}/installations',
    summary: 'List the installations of a workspace',
    params,
    query: PageQuery,
    responses: { 200: Page(Installation) },
    openPoints: ['OP-81'],
    async handle(input) {
      const workspace = await workspaceOf(input.worker, input.params.id)
      const path = `/internal/installations${queryText(input.query)}` as const
      return ok(await apps.send(askedBy(input, workspace), 'GET', path, Page(Installation)))
    },
  }),
  adminOperation({
    method: 'GET',
    path: '/admin/v1/installations/{id}',
    summary: 'Get an installation',
    params,
    responses: { 200: Installation },
    openPoints: ['OP-81'],
    handle: async (input) =>
      ok(await apps.send(askedBy(input), 'GET', `/internal/installations/${input.params.id}`, Installation)),
  }),
  ...(['consent', 'decline'] as const).map((act) =>
    adminOperation({
      method: 'POST',
      path: `/admin/v1/installations/{id}/${act}`,
      summary: act === 'consent' ? 'Consent to an installation' : 'Decline an installation',
      params,
      body: z.strictObject({}).optional(),
      responses: { 200: Installation },
      openPoints: ['OP-81'],
      handle: async (input) =>
        ok(await apps.send(askedBy(input), 'POST', `/internal/installations/${input.params.id}/${act}`, Installation)),
    }),
  ),
  adminOperation({
    method: 'DELETE',
    path: '/admin/v1/installations/{id}',
    summary: 'Uninstall an app',
    params,
    responses: { 202: null },
    openPoints: ['OP-84'],
    async handle(input) {
      await apps.send(askedBy(input), 'DELETE', `/internal/installations/${input.params.id}`, null)
      return accepted(undefined)
    },
  }),
]

/** A workspace, live or sandbox. Throws `not_found`. */
async function workspaceOf(worker: Sql, id: string) {
  const [workspace] = await worker<{ id: string; livemode: boolean; name: string; domain: string | null }[]>`
    select id, livemode, name, domain from workspace where id = ${id}`
  if (workspace === undefined) throw unknownWorkspace(id)
  return workspace
}
