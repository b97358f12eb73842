import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { exchangeRaw } from '../testing/raw-http.ts'
import { testConsole } from '../testing/test-console.ts'
import { testGateway } from '../testing/test-gateway.ts'
import type { Echo } from '../testing/test-upstream.ts'

const folder = mkdtempSync(join(tmpdir(), 'console-'))
const SCRIPT = `console.log('${'a'.repeat(5000)}')`
mkdirSync(join(folder, 'assets'))
writeFileSync(join(folder, 'index.html'), '<!doctype html><title>The console</title>')
writeFileSync(join(folder, 'assets', 'index-1a2b.js'), SCRIPT)
writeFileSync(join(folder, 'assets', 'index-1a2b.js.map'), '{}')
writeFileSync(join(folder, 'assets', 'reload.js'), SCRIPT)
writeFileSync(join(folder, 'secret.txt'), 'secret')
const gateway = await testGateway({ consoleFolder: pathToFileURL(`${folder}/`) })

const get = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await request(`${gateway.url}${path}`, { headers })
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) }
}
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https://cdn.example; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

test.each(['/console', '/console/', '/console/orders/1?a=b', '/console/collections'])(
  '%s is the page of the console, which is asked for again each time',
  async (path) => {
    const { status, headers, body } = await get(path)
    expect([status, body.toString()]).toEqual([200, '<!doctype html><title>The console</title>'])
    expect(headers).toMatchObject({ 'cache-control': 'no-cache', 'content-type': 'text/html; charset=utf-8' })
    expect((await get(path, { 'if-none-match': String(headers.etag) })).status).toBe(304)
  },
)

test.each(['/console', '/console/assets/index-1a2b.js', '/console/assets/none.js', '/console/session'])(
  'the headers of %s let nothing of another site in',
  async (path) => {
    expect((await get(path)).headers).toMatchObject({
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    })
  },
)

test('what the page loads is kept by browsers for ever, and compressed as they like', async () => {
  const path = '/console/assets/index-1a2b.js'
  const plain = await get(path)
  expect(plain.body.toString()).toBe(SCRIPT)
  expect(plain.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'text/javascript; charset=utf-8',
    vary: 'Accept-Encoding',
  })
  expect((await get('/console/assets/reload.js')).headers).toMatchObject({ 'cache-control': 'public, max-age=3600' })
  const brotli = await get(path, { 'accept-encoding': 'gzip, br' })
  expect(brotli.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' })
  expect(brotliDecompressSync(brotli.body).toString()).toBe(SCRIPT)
  expect(gunzipSync((await get(path, { 'accept-encoding': 'gzip' })).body).toString()).toBe(SCRIPT)
})

test.each([
  '/console/assets/none.js',
  '/console/assets/',
  '/console/assets/index-1a2b.js.map',
  '/console/assets/../secret.txt',
  '/console/assets/..%2fsecret.txt',
  '/console/assets/%2e%2e/secret.txt',
  '/console/assets//etc/passwd',
])('%s is no file', async (path) => {
  const answer = await exchangeRaw(gateway.url, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 404 /)
})

test('other methods are refused', async () => {
  for (const path of ['/console', '/console/orders', '/console/assets/index-1a2b.js', '/console/session'])
    expect([path, await gateway.send(undefined, 'PUT', path)]).toMatchObject([
      path,
      { status: 405, headers: { 'content-security-policy': POLICY, 'x-frame-options': 'DENY' } },
    ])
})

test('without a build there is a page that says how to make one', async () => {
  const { url } = await testGateway({ consoleFolder: pathToFileURL(`${folder}/none/`) })
  const answer = await request(`${url}/console`)
  expect(answer.statusCode).toBe(200)
  expect(await answer.body.text()).toContain('npm run build -w @backoffice/console')
})

test('files are uploaded, and events are read while they are sent', async () => {
  const { key } = await gateway.aKey()
  const browser = testConsole(gateway)
  await browser.login(key)
  const form = '--a\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\nsku\r\n--a--\r\n'
  const uploaded = await browser.send<Echo>('POST', '/console/api/v1/imports', {
    body: form,
    headers: { 'content-type': 'multipart/form-data; boundary=a' },
  })
  expect(uploaded).toMatchObject({ status: 200, body: { url: '/v1/imports', body: form } })

  const more = Promise.withResolvers<void>()
  gateway.imports.answer = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    await more.promise
    response.end('data: 2\n\n')
  }
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ')
  const stream = await request(`${gateway.url}/console/api/v1/imports/1/progress`, {
    headers: { cookie, 'x-requested-with': 'console', accept: 'text/event-stream' },
  })
  const chunks: string[] = []
  for await (const chunk of stream.body) {
    chunks.push(String(chunk))
    more.resolve()
  }
  expect(chunks).toEqual(['data: 1\n\n', 'data: 2\n\n'])
})
