import { AppSession, Installation } from '@backoffice/contracts/app.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { created } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import type { AppsClient } from '../../apps/apps-client.ts'
import { askedBy } from '../../apps/asked-by.ts'
import { PAGES, type PageLinks, type PageName } from '../../pages/links/page-links.ts'
import { type AnyAdminOperation, adminOperation } from '../admin-operation.ts'

const params = z.strictObject({ id: Id })

/** `/admin/v1/installations/{id}/links` and `…/session`: what lets a merchant's browser in (OP-81, OP-83). */
export const pageOperations = (apps: AppsClient, links: PageLinks): AnyAdminOperation[] => [
  adminOperation({
    method: 'POST',
    path: '/admin/v1/installations/{id}/links',
    summary: 'Make a one-time link to a page of an installation',
    params,
    body: z.strictObject({ page: z.enum(PAGES) }),
    responses: { 201: z.strictObject({ url: z.url(), expires_at: Timestamp }) },
    openPoints: ['OP-81'],
    async handle(input) {
      const { id } = input.params
      const { page } = input.body
      const installation = await apps.send(askedBy(input), 'GET', `/internal/installations/${id}`, Installation)
      refuseEmptyPage(page, installation)
      const { provider } = installation
      const acts = [{ action: 'link.created' as const, target: `installations/${id}` }]
      return input.act(installation.workspace, acts, async (tx) =>
        created(await links.create(tx, { page, provider, installationId: id })),
      )
    },
  }),
  adminOperation({
    method: 'POST',
    path: '/admin/v1/installations/{id}/session',
    summary: "Open a session of an app, with a one-time link to the app's page",
    params,
    body: z.strictObject({}).optional(),
    responses: { 201: z.strictObject({ token: z.string(), expires_at: Timestamp, embed_url: z.url() }) },
    openPoints: ['OP-83'],
    async handle(input) {
      const { id } = input.params
      const path = `/internal/installations/${id}` as const
      const { workspace } = await apps.send(askedBy(input), 'GET', path, Installation)
      const session = await apps.send(askedBy(input), 'POST', `${path}/session`, AppSession)
      const { token, expires_at, provider } = session
      const acts = [{ action: 'session.created' as const, target: `installations/${id}` }]
      return input.act(workspace, acts, async (tx) => {
        const { url } = await links.create(tx, { page: 'embed', provider, installationId: id })
        return created({ token, expires_at, embed_url: url })
      })
    },
  }),
]

/** Throws `conflict` when the page would have nothing to show. */
function refuseEmptyPage(page: PageName, { state, requested_scopes }: Installation): void {
  if (page === 'consent' && requested_scopes.length === 0) {
    throw conflict(['page'], `nothing waits for consent: the installation is ${state}`)
  }
  if (page === 'embed' && state !== 'ACTIVE') {
    throw conflict(['page'], `the installation is ${state}; only an ACTIVE one has an embed`)
  }
}
