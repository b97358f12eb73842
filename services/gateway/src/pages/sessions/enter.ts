import { refuseOtherMethods } from '@backoffice/http/other-methods.ts'
import type { FastifyInstance } from 'fastify'
import { html } from '../document/html.ts'
import { forgedLink, usedLink } from '../document/refusals.ts'
import { messagePage, sendPage } from '../document/send-page.ts'
import { findLink, inWorkspaceOf, type LinkedPage, pathOf, useLink } from '../links/page-links.ts'
import { beginConsole } from './begin-console.ts'
import { type PagesOptions, refuseCrossSite } from './merchant-requests.ts'

interface Texts {
  readonly title: string
  readonly text: string
  readonly button: string
}

const TEXTS: Readonly<Record<LinkedPage, Texts>> = {
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
  console: {
    title: 'Open the console',
    text: 'You stay signed in to it for eight hours in this browser, or until you do not use it for half an hour.',
    button: 'Open the console',
  },
  support: {
    title: 'Support a workspace',
    text: 'You read in it for half an hour, in the name of the operator who made this link. The audit log has each request.',
    button: 'Open the console',
  },
}

/**
 * `/apps/enter?link=…`: opens a one-time link. Chat and mail programs fetch the links of a message, and some run their
 * scripts. So a GET does not use the link up: it shows a button that posts the link.
 */
export function addEnter(app: FastifyInstance, options: PagesOptions): void {
  const { db, ids, sessions, publicUrl, format, operators, consoleRequests, clock } = options
  const url = '/apps/enter'
  app.get<{ Querystring: Record<string, string | string[]> }>(url, async ({ query }, reply) => {
    const link = String(query.link)
    const reference = ids.read('link', link)
    if (reference === undefined) throw forgedLink()
    const page = await findLink(db, reference, operators.fingerprint)
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
    const { workspaceId, id } = reference
    request.logged = { ...request.logged, workspace_id: workspaceId }
    const opened = await inWorkspaceOf(db, workspaceId, async (tx) => {
      const used = await useLink(tx, id, operators.fingerprint)
      return used?.page === 'console' ? beginConsole(tx, format, used, { requestId: request.id, at: clock() }) : used
    })
    if (opened === undefined) throw usedLink()
    if (!('page' in opened)) {
      reply.header('set-cookie', consoleRequests.setCookie('console', opened.token, opened.seconds))
      return reply.redirect('/console', 303)
    }
    request.logged = { ...request.logged, installation_id: opened.installationId }
    sessions.begin(reply, workspaceId, opened)
    return reply.redirect(pathOf(opened), 303)
  })
  refuseOtherMethods(app, url, ['GET', 'POST'])
}
