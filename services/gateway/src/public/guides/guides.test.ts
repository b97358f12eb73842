import { readFile } from 'node:fs/promises'
import { ERROR_REASONS } from '@backoffice/contracts/error-reasons.ts'
import { ApiError, type ErrorCode, type ErrorReason, errorAnswer } from '@backoffice/contracts/errors.ts'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'
import { GUIDES } from './guide-files.ts'
import { renderGuide } from './render-guide.ts'

const gateway = await testGateway()

async function page(path: string) {
  const { statusCode, headers, body } = await request(gateway.url + path)
  return { status: statusCode, headers, text: await body.text() }
}

const linksOf = (text: string) => [...text.matchAll(/ href="([^"]+)"/g)].map(([, href = '']) => href)

test('GET /docs/guides lists all guides, and each is a page of this server alone, without inline scripts', async () => {
  const index = await page('/docs/guides')
  for (const name of GUIDES) expect(linksOf(index.text)).toContain(`/docs/guides/${name}`)
  for (const path of ['', ...GUIDES.map((name) => `/${name}`)]) {
    const { status, headers, text } = await page(`/docs/guides${path}`)
    expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).not.toMatch(/https?:|\*|unsafe/)
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(text).not.toMatch(/<style|style="|<script(?! type="module" src="\/docs\/guides\/guides.js")| on\w+="/)
  }
  for (const [file, type] of [
    ['tokens.css', 'text/css'],
    ['guides.css', 'text/css'],
    ['guides.js', 'text/javascript'],
  ]) {
    const { status, headers } = await page(`/docs/guides/${file}`)
    expect([status, headers['content-type']]).toEqual([200, `${type}; charset=utf-8`])
  }
  for (const path of ['open-points', 'guides.ts', '..%2f..%2fpackage.json']) {
    const { status, headers, text } = await page(`/docs/guides/${path}`)
    expect([path, status, headers['error-reason']]).toEqual([path, 404, 'no_such_resource'])
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'not_found', request_id: headers['x-request-id'] } })
  }
})

test('each link of a guide leads to a page, and each anchor to a heading of it', async () => {
  const texts = new Map<string, string>()
  const textOf = async (path: string) => {
    const text = texts.get(path) ?? (await page(path)).text
    texts.set(path, text)
    return text
  }
  for (const name of GUIDES) {
    const own = `/docs/guides/${name}`
    for (const href of linksOf(await textOf(own)).filter((one) => !/^(https|data):/.test(one))) {
      const [path = '', anchor] = href.startsWith('#') ? [own, href.slice(1)] : href.split('#')
      expect([href, (await page(path)).status]).toEqual([href, 200])
      if (anchor !== undefined) expect(await textOf(path), `${own}: ${href}`).toContain(` id="${anchor}"`)
    }
  }
})

test('the link of each refusal leads to the section of its reason', async () => {
  const markdown = await readFile(new URL('../../../../../docs/errors.md', import.meta.url), 'utf8')
  const { sections } = renderGuide('errors', markdown)
  for (const [code, reasons] of Object.entries(ERROR_REASONS)) {
    for (const [reason, text] of Object.entries(reasons)) {
      const refusal = new ApiError(code as ErrorCode, 'refused', { errorReason: reason as ErrorReason })
      const [, anchor] = /#(.*)>/.exec(errorAnswer(refusal, 'id').headers.link) ?? []
      const section = sections.find((one) => one.anchor === anchor)
      expect(section?.text, `${code} ${reason}`).toContain(text.replaceAll('`', ''))
    }
  }
})

test('no guide names a decision or a file that a partner cannot read', async () => {
  for (const name of GUIDES) expect((await page(`/docs/guides/${name}`)).text).not.toMatch(/OP-\d|open-points/)
})

test('files of the repository only are no links, and text is escaped', () => {
  const { html, title } = renderGuide(
    'webhooks',
    '# A `<b>`\n\n[one](apps.md#the-embed) [two](../examples/app)\n\n```sh\ncat <a && b\n```\n## A `<b>`\n\n|a|\n|-|\n|`<i>`|\n',
  )
  expect(title).toBe('A <b>')
  expect(html).toContain('<a href="/docs/guides/apps#the-embed">one</a> two')
  expect(html).toContain('<code>cat &lt;a &amp;&amp; b</code>')
  expect(html).toContain('<td><code>&lt;i&gt;</code></td>')
  expect(html).toContain('<h2 id="a-b-1">')
})

test('the search finds sections that have all words, the heading before the text, and escapes what was asked', async () => {
  const found = await page('/docs/guides/search?q=Replace+SECRET')
  const [first, ...others] = linksOf(found.text).filter((href) => href.includes('#'))
  expect(first).toBe('/docs/guides/webhooks#replace-the-secret')
  expect(others).not.toContain('/docs/guides/webhooks#retries')
  const repeated = await page('/docs/guides/search?q=replace+secret+secret+a+e+i+o+t+n+zebra')
  expect(linksOf(repeated.text)).toContain(first)
  for (const asked of ['', '?q=', '?q=%3Cscript%3E', '?q=a&q=b']) {
    const { status, text } = await page(`/docs/guides/search${asked}`)
    expect([asked, status, text.includes('Nothing found')]).toEqual([asked, 200, true])
    expect(text).not.toContain('<script>')
  }
})
