import { refuseOtherMethods } from '@backoffice/http/route.ts'
import type { FastifyInstance } from 'fastify'
import { html } from '../document/html.ts'
import { forgedLink, usedLink } from '../document/refusals.ts'
import { messagePage, sendPage } from '../document/send-page.ts'
import { findLink, type PageName, pathOf, useLink } from '../links/page-links.ts'
import { type PagesOptions, refuseCrossSite } from './merchant-requests.ts'

const TEXTS: Readonly<Record<PageName, { readonly title: string; readonly text: string; readonly button: string }>> = {
  consent: {
    title: 'An app asks for access',
    text: 'Next you see which app it is and what it asks for. Nothing is approved until you say so.',
    button: 'See the request',
  },
  embed: {
    title: 'Open your app',
    text: 'You stay signed in to it for eight hours in this browser.',
    button: 'Open the app',
  },
}

/**
 * `/apps/enter?link=…`: opens a one-time link. Chat and mail programs fetch the links of a message, and some run their
 * scripts. So a GET does not use the link up: it shows a button that posts the link.
 */
export function addEnter(app: FastifyInstance, { db, ids, sessions, publicUrl }: PagesOptions): void {
  const url = '/apps/enter'
  app.get<{ Querystring: Record<string, string | string[]> }>(url, async ({ query }, reply) => {
    const link = String(query.link)
    const reference = ids.read('link', link)
    if (reference === undefined) throw forgedLink()
    const page = await findLink(db, reference)
    if (page === undefined) throw usedLink()
    const { title, text, button } = TEXTS[page]
    const form = html`
      <form method="post" action="${url}">
        <input type="hidden" name="link" value="${link}">
        <button class="primary" autofocus>${button}</button>
      </form>`
    return sendPage(reply, { title, body: messagePage(title, text, form) })
  })

  app.post<{ Body: URLSearchParams | undefined }>(url, async (request, reply) => {
    refuseCrossSite(request, publicUrl)
    const reference = ids.read('link', request.body?.get('link') ?? undefined)
    if (reference === undefined) throw forgedLink()
    const session = await useLink(db, reference)
    if (session === undefined) throw usedLink()
    request.logged = { ...request.logged, workspace_id: reference.workspaceId, installation_id: session.installationId }
    sessions.begin(reply, reference.workspaceId, session)
    return reply.redirect(pathOf(session), 303)
  })
  refuseOtherMethods(app, url, ['GET', 'POST'])
}
