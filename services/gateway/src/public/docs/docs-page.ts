import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { sendFile } from '../proxy/file-in-memory.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import { type DocumentOptions, mergedDocument } from './openapi.ts'

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Commerce Back-Office API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="api"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`
const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: true, persistAuthorization: false })\n`

/** Swagger UI's package. Its files are read from disk for each request, so that they take no memory. */
const require = createRequire(import.meta.url)
const UI_FOLDER = new URL('static/', pathToFileURL(require.resolve('@fastify/swagger-ui/package.json')))
const UI_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const

/** The page loads files of this server only. Swagger UI uses inline styles and takes icons from data URLs. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** GET /openapi.json, and GET /docs: the document as a page that sends requests. It works without the internet. */
export function addDocs(app: FastifyInstance, upstreams: readonly Upstream[], options: DocumentOptions): void {
  const document = mergedDocument(upstreams, options)
  app.get('/openapi.json', async (request, reply) => sendFile(request, reply, await document()))
  app.get('/docs', async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY).send(PAGE),
  )
  app.get('/docs/start.js', async (_request, reply) => reply.type('text/javascript; charset=utf-8').send(START))
  for (const [file, type] of Object.entries(UI_FILES)) {
    app.get(`/docs/${file}`, async (_request, reply) =>
      reply
        .type(type)
        .header('cache-control', 'public, max-age=3600')
        .send(createReadStream(new URL(file, UI_FOLDER))),
    )
  }
}
