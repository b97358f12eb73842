import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { notFound } from '@backoffice/contracts/errors.ts'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Html, html } from '../../pages/document/html.ts'
import { GUIDES, type GuideName, guideFile } from './guide-files.ts'
import type { Guide } from './render-guide.ts'
import { searchGuides } from './search-guides.ts'

const FILES = {
  'tokens.css': new URL('../../pages/document/tokens.css', import.meta.url),
  'guides.css': new URL('guides.css', import.meta.url),
  'guides.js': new URL('guides.js', import.meta.url),
}
const MOST_QUERIED = 100
const HEADERS = {
  'cache-control': 'public, max-age=300',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}

/** The guides for partners under /docs/guides, with a search. They are rendered at the first request. */
export function addGuides(app: FastifyInstance): void {
  let rendered: Promise<readonly Guide[]> | undefined
  const guides = () => {
    rendered ??= renderAll().catch((error: unknown) => {
      rendered = undefined
      throw error
    })
    return rendered
  }
  app.get('/docs/guides', async (_request, reply) => send(reply, 'Guides', await guides(), index(await guides())))
  app.get<{ Querystring: { q?: unknown } }>('/docs/guides/search', async ({ query }, reply) => {
    const asked = String(query.q ?? '').slice(0, MOST_QUERIED)
    return send(reply, 'Search', await guides(), results(await guides(), asked), { asked })
  })
  for (const [name, file] of Object.entries(FILES)) {
    const type = `text/${name.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`
    app.get(`/docs/guides/${name}`, async (_request, reply) =>
      reply.type(type).headers(HEADERS).send(createReadStream(file)),
    )
  }
  app.get<{ Params: { name: string } }>('/docs/guides/:name', async ({ params: { name } }, reply) => {
    const guide = (await guides()).find((one) => one.name === name)
    if (guide === undefined) throw notFound(['name'], 'there is no such guide')
    return send(reply, guide.title, await guides(), html`<article>${new Html(guide.html)}</article>`, { guide })
  })
}

/** The renderer is loaded here, since most gateways never show a guide. */
async function renderAll(): Promise<readonly Guide[]> {
  const { renderGuide } = await import('./render-guide.ts')
  const read = async (name: GuideName) =>
    renderGuide(name, await readFile(new URL(`../../../../../${guideFile(name)}`, import.meta.url), 'utf8'))
  return Promise.all(GUIDES.map(read))
}

const pathOf = ({ name }: Guide) => `/docs/guides/${name}`

const index = (guides: readonly Guide[]): Html => html`<h1>Guides</h1>
<ul class="found">${guides.map((guide) => html`<li><a href="${pathOf(guide)}">${guide.title}</a><p>${guide.summary}</p></li>`)}</ul>`

function results(guides: readonly Guide[], asked: string): Html {
  const found = searchGuides(guides, asked)
  return html`<h1>${found.length === 0 ? 'Nothing found' : 'Found'} for “${asked}”</h1>
<ul class="found">${found.map(
    ({ guide, section, excerpt }) =>
      html`<li><a href="${pathOf(guide)}#${section.anchor}">${section.heading}</a> <small>${guide.title}</small><p>${excerpt}</p></li>`,
  )}</ul>`
}

function send(
  reply: FastifyReply,
  title: string,
  guides: readonly Guide[],
  content: Html,
  { guide: shown, asked = '' }: { guide?: Guide; asked?: string } = {},
): FastifyReply {
  const contents = (shown?.sections ?? [])
    .filter(({ depth }) => depth === 2)
    .map(({ anchor, heading }) => html`<li><a href="#${anchor}">${heading}</a></li>`)
  const entries = guides.map(
    (guide) =>
      html`<li><a href="${pathOf(guide)}"${guide === shown && html` aria-current="page"`}>${guide.title}</a>${
        guide === shown && html`<ul>${contents}</ul>`
      }</li>`,
  )
  const page = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Commerce Back-Office</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/guides/tokens.css">
    <link rel="stylesheet" href="/docs/guides/guides.css">
    <script type="module" src="/docs/guides/guides.js"></script>
  </head>
  <body>
    <header>
      <a class="brand" href="/docs/guides">Commerce Back-Office</a>
      <form role="search" action="/docs/guides/search">
        <input type="search" name="q" value="${asked}" placeholder="Search the guides" aria-label="Search the guides" required maxlength="${MOST_QUERIED}">
      </form>
      <a href="/docs">API reference</a>
    </header>
    <div class="columns">
      <nav aria-label="Guides"><ul>${entries}</ul></nav>
      <main>
${content}
      </main>
    </div>
  </body>
</html>
`
  return reply.type('text/html; charset=utf-8').headers(HEADERS).send(page.text)
}
