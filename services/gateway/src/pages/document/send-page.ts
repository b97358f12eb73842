import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import { Html, html } from './html.ts'

export interface PageContent {
  readonly status?: number
  readonly title: string
  readonly body: Html
  /** Reloads the page after so many seconds. */
  readonly refreshSeconds?: number | undefined
  /** Fills the window, without margins. */
  readonly isFullSize?: boolean
  /** Directives besides those of every page, such as `frame-src`. */
  readonly policy?: readonly string[]
}

/** Reads files that pages contain, as one. The policy names its hash, so that nothing else runs. */
export function inlineFile(...urls: readonly URL[]) {
  const text = urls.map((url) => readFileSync(url, 'utf8')).join('')
  return { content: new Html(text), source: `'sha256-${createHash('sha256').update(text).digest('base64')}'` }
}

const STYLE = inlineFile(new URL('./tokens.css', import.meta.url), new URL('./style.css', import.meta.url))

/** What every answer under /apps says: no cache, no frame around it, no referrer. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** Answers with a page. Its policy allows our own style and script, and forms to ourselves. */
export function sendPage(
  reply: FastifyReply,
  { status = 200, title, body, refreshSeconds, isFullSize, policy = [] }: PageContent,
): FastifyReply {
  const directives = [
    "default-src 'none'",
    `style-src ${STYLE.source}`,
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...policy,
  ]
  const page = html`<!doctype html>
<html lang="en"${isFullSize && html` class="full"`}>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    ${refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
    <title>${title} · Commerce Back-Office</title>
    <link rel="icon" href="data:,">
    <style>${STYLE.content}</style>
  </head>
  <body>
    ${!isFullSize && html`<header class="brand">Commerce Back-Office</header>`}
    ${body}
  </body>
</html>
`
  return reply
    .code(status)
    .header('content-security-policy', directives.join('; '))
    .type('text/html; charset=utf-8')
    .send(page.text)
}

/** A page that says one thing. */
export const messagePage = (title: string, text: string, further?: Html): Html => html`
    <main class="card">
      <h1>${title}</h1>
      <p>${text}</p>
      ${further}
    </main>`
