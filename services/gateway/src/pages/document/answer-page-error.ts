import { asApiError } from '@backoffice/http/error-answers.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { html } from './html.ts'
import { PageRefusal } from './refusals.ts'
import { messagePage, sendPage } from './send-page.ts'

/** Answers a failure under /apps with a page, and adds it to the request's log line. */
export function answerPageError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof PageRefusal) {
    request.logged = { ...request.logged, error: error.title }
    sendPage(reply, { status: error.status, title: error.title, body: messagePage(error.title, error.message) })
    return
  }
  const refusal = asApiError(error)
  request.logged = { ...request.logged, error_code: refusal.code, error: refusal.message }
  if (refusal.status >= 500) request.logged.err = refusal.cause ?? error
  const [title, text] = TEXTS[refusal.status] ?? (refusal.status >= 500 ? OUT_OF_ORDER : REFUSED)
  const id = html`<p class="quiet">Request id: <code>${request.id}</code></p>`
  reply.headers(refusal.headers)
  sendPage(reply, { status: refusal.status, title, body: messagePage(title, text, id) })
}

const OUT_OF_ORDER = ['Something went wrong on our side', 'Nothing was changed. Please try again in a moment.'] as const
const REFUSED = ['This did not work', 'Go back and try again, or ask for a new link.'] as const
const TEXTS: Readonly<Record<number, readonly [title: string, text: string]>> = {
  404: ['There is no such page', 'Perhaps the app has been removed. Ask for a new link.'],
  503: ['We cannot answer right now', 'Please reload this page in a moment.'],
}
