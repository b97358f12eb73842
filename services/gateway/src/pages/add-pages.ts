import type { FastifyInstance } from 'fastify'
import { addConsent } from './consent/consent.ts'
import { answerPageError } from './document/answer-page-error.ts'
import { PAGE_HEADERS } from './document/send-page.ts'
import { addEmbed } from './embed/embed.ts'
import { addEnter } from './sessions/enter.ts'
import type { PagesOptions } from './sessions/merchant-requests.ts'
import { pageSessions } from './sessions/page-sessions.ts'

/** Largest form that is read, in bytes. */
const FORM_BYTES = 64 * 1024

/** The pages of apps for merchants, under `/apps`. A cookie opens them, no key. */
export function addPages(app: FastifyInstance, pagesOptions: Omit<PagesOptions, 'sessions'>): void {
  const { db, ids, publicUrl } = pagesOptions
  const options = { ...pagesOptions, sessions: pageSessions(db, ids, publicUrl.protocol === 'https:') }
  app.register(async (pages) => {
    pages.setErrorHandler(answerPageError)
    pages.addHook('onRequest', async (_request, reply) => {
      reply.headers(PAGE_HEADERS)
    })
    // Pages take forms alone.
    pages.removeContentTypeParser('application/json')
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: FORM_BYTES },
      async (_request: unknown, text: string) => new URLSearchParams(text),
    )
    addEnter(pages, options)
    addConsent(pages, options)
    addEmbed(pages, options)
  })
}
