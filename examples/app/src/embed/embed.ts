import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Parts } from '../app.ts'

const read = (url: string) => readFileSync(new URL(url), 'utf8')
const HTML = read(import.meta.resolve('./embed.html'))
const FILES = [
  { path: '/embed.css', type: 'text/css', content: read(import.meta.resolve('./embed.css')) },
  { path: '/embed.js', type: 'text/javascript', content: read(import.meta.resolve('./embed.js')) },
  {
    path: '/app-bridge.js',
    type: 'text/javascript',
    content: read(import.meta.resolve('@backoffice/app-sdk/app-bridge.js')),
  },
]

/**
 * GET /embed: a page without data, which anybody may read and which only the platform may frame. It gets a session
 * token from the page around it, and its data with that token: the workspace is the token's (App rule 3).
 */
export function addEmbed(app: FastifyInstance, { tokens, database, settings: { PLATFORM_URL } }: Parts): void {
  const page = HTML.replace('{{PLATFORM_URL}}', PLATFORM_URL)
  const policy = `default-src 'self'; frame-ancestors ${new URL(PLATFORM_URL).origin}`
  app.get('/embed', (_request, reply) => reply.type('text/html').header('content-security-policy', policy).send(page))
  for (const { path, type, content } of FILES) app.get(path, (_request, reply) => reply.type(type).send(content))

  app.get('/embed/payments', async (request) => {
    const { workspaceId, workspaceName } = await tokens.session(request.headers.authorization)
    const rows = database
      .prepare(
        `select order_id, amount_minor, currency, state from checkout
        where workspace_id = ? and state <> 'CLOSED' order by rowid desc limit 100`,
      )
      .all(workspaceId)
    const payments = rows.map(({ order_id, amount_minor, currency, state }) => ({
      order: order_id,
      amountMinor: amount_minor,
      currency,
      isPaid: state === 'CHARGED' || state === 'PAID',
    }))
    return { workspace: workspaceName, payments }
  })
}
