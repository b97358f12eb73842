import { Installation } from '@backoffice/contracts/app.ts'
import { created } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { findWorkspace } from '../workspaces/workspace.ts'

/** With a one-time link to the consent page; null where nothing waits for consent. */
const InstallationToConsent = z.strictObject({ ...Installation.shape, consent_url: z.url().nullable() })

/** POST /admin/v1/workspaces/{id}/installations (OP-81): asks the merchant's consent to an app. */
export const requestInstallation = adminOperation({
  method: 'POST',
  path: '/admin/v1/workspaces/{id}/installations',
  summary: 'Ask the merchant to install an app',
  body: z.strictObject({ provider: z.string() }),
  responses: { 201: InstallationToConsent },

  async handle({ params, body, worker, askApps, act, links }) {
    const { name, domain, ...workspace } = await findWorkspace(worker, params.id)
    const installation = await askApps({
      method: 'POST',
      path: '/internal/installations',
      answer: Installation,
      workspace,
      body: { ...body, workspace: { name, domain } },
    })
    const { id, provider, requested_scopes } = installation
    if (requested_scopes.length === 0) return created({ ...installation, consent_url: null })
    return act(workspace.id, [{ action: 'link.created', target: `installations/${id}` }], async (tx) => {
      const { url } = await links.create(tx, { page: 'consent', provider, installationId: id })
      return created({ ...installation, consent_url: url })
    })
  },
})
