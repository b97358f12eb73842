import { Installation } from '@backoffice/contracts/app.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import { Timestamp } from '@backoffice/contracts/fields.ts'
import { created } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { PAGES, type PageName } from '../../pages/links/page-links.ts'
import { adminOperation } from '../admin-operation.ts'

/** POST /admin/v1/installations/{id}/links (OP-81): lets a merchant's browser in. */
export const createLink = adminOperation({
  method: 'POST',
  path: '/admin/v1/installations/{id}/links',
  summary: 'Make a one-time link to a page of an installation',
  body: z.strictObject({ page: z.enum(PAGES) }),
  responses: { 201: z.strictObject({ url: z.url(), expires_at: Timestamp }) },

  async handle({ params: { id }, body: { page }, askApps, act, links }) {
    const installation = await askApps({ method: 'GET', path: `/internal/installations/${id}`, answer: Installation })
    refuseEmptyPage(page, installation)
    const { provider, workspace } = installation
    return act(workspace, [{ action: 'link.created', target: `installations/${id}` }], async (tx) =>
      created(await links.create(tx, { page, provider, installationId: id })),
    )
  },
})

/** Throws `conflict` when the page would have nothing to show. */
function refuseEmptyPage(page: PageName, { state, requested_scopes }: Installation): void {
  if (page === 'consent' && requested_scopes.length === 0) {
    throw conflict(['page'], `nothing waits for consent: the installation is ${state}`)
  }
  if (page === 'embed' && state !== 'ACTIVE') {
    throw conflict(['page'], `the installation is ${state}; only an ACTIVE one has an embed`)
  }
}
