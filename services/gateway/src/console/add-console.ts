import { notFound } from '@backoffice/contracts/errors.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PAGE_HEADERS } from '../pages/document/send-page.ts'
import { addConsolePages } from './add-console-pages.ts'
import { CONSOLE_FOLDER } from './console-files.ts'
import { addSessionRoutes, type SessionRoutes } from './session-routes.ts'

/** Nothing from another server but stored pictures, and no script or style in a page (OP-309). */
const policyOf = (assetsUrl: string | undefined) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${assetsUrl === undefined ? '' : ` ${new URL(assetsUrl).origin}`}`,
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

interface Console extends SessionRoutes {
  /** The built pages; those of this repository unless given. */
  readonly consoleFolder?: URL | undefined
  /** What the URLs of stored files begin with, where another server has them. */
  readonly assetsUrl?: string | undefined
}

/** The console: its pages and its sessions. The API answers what the pages ask for (`consoleRequests`). */
export function addConsole(app: FastifyInstance, options: Console): void {
  const { consoleFolder = CONSOLE_FOLDER, assetsUrl, ...routes } = options
  const headers = { ...PAGE_HEADERS, 'content-security-policy': policyOf(assetsUrl) }
  app.register(async (console) => {
    console.addHook('onRequest', async (_request, reply) => {
      reply.headers(headers)
    })
    addConsolePages(console, consoleFolder)
    addSessionRoutes(console, routes)
  })
  // With keys, the proxy answers these paths.
  if (routes.keys === undefined)
    for (const url of ['/console/api', '/console/api/*']) app.all(url, { onRequest: refuse }, refuse)
}

async function refuse({ method, url }: FastifyRequest): Promise<never> {
  throw notFound([], `${method} ${url.split('?', 1)[0]}: no such operation`, 'no_such_operation')
}
