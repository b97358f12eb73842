import { Installation } from '@backoffice/contracts/app.ts'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { refuseOtherMethods } from '@backoffice/http/other-methods.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { forgedRequest } from '../document/refusals.ts'
import { sendPage } from '../document/send-page.ts'
import { askApps, type PagesOptions, refuseCrossSite } from '../sessions/merchant-requests.ts'
import type { PageSession } from '../sessions/page-sessions.ts'
import { consentPage, type Refused } from './consent-page.ts'
import { type Decision, statePage } from './state-page.ts'

type Ask = FastifyRequest<{ Params: { installation: string } }>

/** The length tells an installation from the parts of other paths: an app may be called `consent`. */
const PATH = '/apps/consent/:installation(^[0-9a-f-]{36}$)'

/** `/apps/consent/{installation}`: shows what an app asks for, and takes the merchant's decision (OP-81). */
export function addConsent(app: FastifyInstance, { apps, ids, sessions, publicUrl }: PagesOptions): void {
  async function show(reply: FastifyReply, session: PageSession, decision: Decision, refused?: Refused) {
    const installation = await askApps(apps, reply, session, ['GET', ''], Installation)
    const status = refused ? 409 : 200
    if (installation.requested_scopes.length === 0) {
      return sendPage(reply, { status, ...statePage(installation, session, decision) })
    }
    const body = consentPage(installation, session, ids.csrfToken(session), refused)
    return sendPage(reply, { status, title: `${installation.name} asks for access`, body })
  }

  app.get(PATH, async (request: Ask, reply) => {
    const session = await sessions.find(request, 'consent', request.params.installation)
    return show(reply, session, decisionOf((request.query as { decided?: unknown }).decided))
  })

  app.post(PATH, async (request: Ask, reply) => {
    refuseCrossSite(request, publicUrl)
    const session = await sessions.find(request, 'consent', request.params.installation)
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
    const decision = decisionOf(form.get('decision'))
    if (!ids.isCsrfToken(session, form.get('csrf')) || decision === undefined) throw forgedRequest()
    const shown = { scopes: form.getAll('scope'), webhooks: webhooksIn(form) }
    try {
      if (decision === 'approve') await askApps(apps, reply, session, ['POST', '/consent'], Installation, shown)
      else await askApps(apps, reply, session, ['POST', '/decline'], Installation)
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'conflict')) throw error
      const refused = error.errorReason === 'not_acknowledged' ? 'not_acknowledged' : 'changed'
      return show(reply, session, undefined, refused)
    }
    return reply.redirect(`/apps/consent/${session.installationId}?decided=${decision}`, 303)
  })
  refuseOtherMethods(app, PATH, ['GET', 'POST'])
}

/** The webhooks that were shown; undefined where the form lacks them. */
function webhooksIn(form: URLSearchParams): unknown {
  const text = form.get('webhooks')
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    throw forgedRequest()
  }
}

const decisionOf = (text: unknown): Decision => (text === 'approve' || text === 'decline' ? text : undefined)
