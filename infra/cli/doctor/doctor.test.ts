import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { paymentApp } from '../../../examples/app/src/app.ts'
import { readSettings } from '../../../examples/app/src/settings.ts'
import { pemOf } from '../../../services/apps/src/tokens/token-keys.ts'
import { runCli } from '../run-cli.ts'
import { frameProblem } from './check-embed.ts'
import { report } from './doctor-command.ts'
import { doctorKey, serveKey } from './doctor-key.ts'
import { examineApp } from './examine-app.ts'

const folder = mkdtempSync(join(tmpdir(), 'app-doctor-'))
whenDone(() => rmSync(folder, { recursive: true }))
const keyFile = join(folder, 'doctor', 'key.pem')
const key = doctorKey(keyFile)
const { url: issuer, stop } = await serveKey(key, 0)
whenDone(stop)
const example = new URL('../../../examples/app/payments.app.json', import.meta.url)
const manifest = AppManifest.parse(JSON.parse(readFileSync(example, 'utf8')))

async function exampleApp(environment: NodeJS.ProcessEnv = {}) {
  const APP_ENCRYPTION_KEY = randomBytes(32).toString('base64')
  const settings = readSettings({ PLATFORM_URL: issuer, APP_ENCRYPTION_KEY, DATABASE: ':memory:', ...environment })
  const app = paymentApp(settings, false)
  whenDone(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}

it.each<[string, NodeJS.ProcessEnv]>([
  ['the JWK set', {}],
  ['a pinned PEM', { PLATFORM_PEM: pemOf([key]) }],
])('the example app meets every expectation by %s', async (_, environment) => {
  const findings = await examineApp({ origin: await exampleApp(environment), manifest, key, issuer })
  expect(findings.filter(({ result }) => result !== 'pass')).toEqual([])
  expect(findings.length).toBeGreaterThan(35)
  expect(report(findings)).toContain('The app does what the platform expects.')
})

it('an app that accepts everything fails where it must refuse', async () => {
  const app = await startReceiver()
  app.answerWith((response) => response.writeHead(200, { 'x-frame-options': 'DENY' }).end('{}'))
  const findings = await examineApp({ origin: app.url, manifest, key, issuer })
  const failed = findings.filter(({ result }) => result === 'fail').map(({ expectation }) => expectation)
  expect(failed).toEqual(
    findings
      .map(({ expectation }) => expectation)
      .filter((expectation) => / refuses? (?!a token that was used)|may frame|forgotten|answers \{/.test(expectation)),
  )
  expect(failed).toContain('provision refuses a token with alg none')
  const text = report(findings)
  expect(text).toContain('FAIL webhooks refuse a signature by another secret: 200, expected 4xx')
  expect(text).toContain('FAIL the platform may frame the embed: it answers X-Frame-Options: DENY')
  expect(text).toMatch(/\d+ of \d+ expectations are not met\.$/)
})

it('an app that refuses everything fails where it must accept', async () => {
  const app = await startReceiver()
  app.answerWith((response) => response.writeHead(401).end())
  const findings = await examineApp({ origin: app.url, manifest, key, issuer })
  const failed = findings.filter(({ result }) => result === 'fail').map(({ expectation }) => expectation)
  expect(failed).toContain('provision accepts the same key again, with a new token')
  expect(failed).toContain('uninstall is accepted')
  expect(failed).toContain('webhooks accept a genuine delivery')
  expect(failed.filter((expectation) => expectation.includes('refuse'))).toEqual([])
})

it('an app that is not there, that fails or that redirects refuses nothing', async () => {
  const app = await startReceiver()
  const answers = [
    (response: ServerResponse) => response.writeHead(500).end(),
    (response: ServerResponse) => response.writeHead(302, { location: '/' }).end(),
  ]
  for (const answer of answers) {
    app.answerWith(answer)
    const findings = await examineApp({ origin: app.url, manifest, key, issuer })
    expect(findings.filter(({ result }) => result === 'pass')).toEqual([])
  }
  const [first] = await examineApp({ origin: 'http://127.0.0.1:2', manifest, key, issuer })
  expect(first?.detail).toContain('ECONNREFUSED')
})

it('a checkout that refuses the order of the doctor is skipped', async () => {
  const app = await startReceiver()
  app.answerWith((response, { path }) => response.writeHead(path === '/checkout' ? 404 : 200).end())
  const findings = await examineApp({ origin: app.url, manifest, key, issuer })
  expect(findings.filter(({ result }) => result === 'skip').map(({ detail }) => detail)).toEqual([
    'the app refuses the order that the doctor invents: 404',
  ])
})

it('an app without webhooks and checkout is asked for neither', async () => {
  const app = await startReceiver()
  const { webhooks: _, checkout: __, ...rest } = manifest
  await examineApp({ origin: app.url, manifest: rest, key, issuer })
  expect([...new Set(app.requests.map(({ path }) => path))]).toEqual([
    '/install/provision',
    '/embed',
    '/install/uninstall',
  ])
  expect(Object.keys(JSON.parse(String(app.requests[0]?.body)))).toEqual(['apiKey'])
})

it.each<[string, Record<string, string>, boolean]>([
  ['no header', {}, true],
  ['X-Frame-Options: SAMEORIGIN', { 'x-frame-options': 'SAMEORIGIN' }, false],
  [
    'frame-ancestors with the platform',
    { 'content-security-policy': "default-src 'self'; frame-ancestors https://p.example" },
    true,
  ],
  [
    'frame-ancestors that stands before X-Frame-Options',
    { 'content-security-policy': 'frame-ancestors *', 'x-frame-options': 'DENY' },
    true,
  ],
  ['frame-ancestors of another host', { 'content-security-policy': 'frame-ancestors https://other.example' }, false],
  ["frame-ancestors 'none'", { 'content-security-policy': "frame-ancestors 'none'" }, false],
])('%s: the embed can be framed: %o', (_, headers, canBeFramed) => {
  expect(frameProblem({ headers: new Headers(headers) }, 'https://p.example') === undefined).toBe(canBeFramed)
})

it('the command reports each expectation, with exit code 0 or 1', async () => {
  const run = async (line: string) => {
    let output = ''
    const print = (text: string) => (output += text)
    const surroundings = { environment: { STACK_DIR: folder }, print, printError: print, readInput: async () => '' }
    return { code: await runCli(line.split(' '), surroundings), output: () => output }
  }
  const port = await freePort()
  const options = `--manifest ${fileURLToPath(example)} --port ${port} --key ${keyFile}`
  const origin = await exampleApp({ PLATFORM_URL: `http://127.0.0.1:${port}` })
  const good = await run(`app doctor ${origin} ${options}`)
  expect([good.code, good.output()]).toEqual([0, expect.stringContaining('ok   provision refuses an expired token\n')])
  const bad = await run(`apps doctor http://127.0.0.1:2 ${options} --json`)
  expect([bad.code, JSON.parse(bad.output())[0].result]).toEqual([1, 'fail'])
  expect(await run(`app doctor ${origin} --manifest package.json`)).toMatchObject({ code: 1 })
  expect(await run(`app doctor nonsense ${options}`)).toMatchObject({ code: 1 })
  expect(await run(`app doctor ${origin} ${options} --prot 1`)).toMatchObject({ code: 2 })
})

it('has the same key in each run', () => {
  expect(doctorKey(keyFile).publicKey.equals(key.publicKey)).toBe(true)
})
