import { execFile } from 'node:child_process'
import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'

/* Among the fault tests, since npm installs the package and what it needs. */

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'app-sdk-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The files in git that the package is made of, and what `npm ci` installs: nothing that an earlier build has left. */
async function cleanTree(): Promise<string> {
  const tree = join(folder, 'tree')
  const listed = ['ls-files', 'libs/app-sdk', 'docs/openapi.json', 'LICENSE', 'package.json', 'tsconfig.base.json']
  const { stdout } = await run('git', listed, { cwd: ROOT })
  for (const file of stdout.trim().split('\n')) cpSync(join(ROOT, file), join(tree, file))
  for (const of of ['.', 'libs/app-sdk']) symlinkSync(join(ROOT, of, 'node_modules'), join(tree, of, 'node_modules'))
  return tree
}

interface Packed {
  readonly filename: string
  readonly version: string
  readonly files: readonly { readonly path: string }[]
}

let packed: Packed

beforeAll(async () => {
  const tree = await cleanTree()
  await run('npm', ['run', 'build', '-w', 'libs/app-sdk'], { cwd: tree })
  const { stdout } = await run('npm', ['pack', join(tree, 'libs/app-sdk/dist'), '--json'], { cwd: folder })
  packed = (JSON.parse(stdout) as [Packed])[0]
  const { filename } = packed
  writeFileSync(join(folder, 'package.json'), '{"type": "module", "private": true}')
  await run('npm', ['install', '--no-audit', '--no-fund', join(folder, filename)], { cwd: folder })
})

/** What an app does with each function. It is checked by `tsc`, and runs without its types as program.js. */
const PROGRAM = `
import {
  apiClient, encryptedKeyStore, platformTokens, recordsInMemory, TokenRefused, usedTokensInMemory, verifyWebhook,
  WebhookRefused,
} from '@backoffice/app-sdk'

const { pem, session, secret, webhook, encryptionKey, api } = JSON.parse(process.argv[2] ?? '')
const tokens = platformTokens({
  issuer: 'https://platform.example', provider: 'example-pay', keys: { pem }, usedTokens: usedTokensInMemory(),
})
const keys = encryptedKeyStore(recordsInMemory(), encryptionKey)
const { workspaceId, expiresAt } = await tokens.session('Bearer ' + session)
await keys.put(workspaceId, { apiKey: 'sk_live_1', webhookSecret: secret })
const request = { headers: webhook.headers, rawBody: Buffer.from(webhook.body) }
const event = verifyWebhook(request, await keys.get(workspaceId))
const forgedToken = await tokens.session('Bearer ' + session + 'x').catch((error) => error instanceof TokenRefused)
let forgedWebhook = false
try {
  verifyWebhook({ ...request, rawBody: Buffer.from('{}') }, await keys.get(workspaceId))
} catch (error) {
  forgedWebhook = error instanceof WebhookRefused
}
const client = apiClient({ baseUrl: api, apiKey: 'sk_live_1' })
const away = await client.GET('/v1/products').then(() => false, () => true)
console.log(JSON.stringify({
  workspaceId, isDate: expiresAt instanceof Date, event: event.type, forgedToken, forgedWebhook, away,
}))
`

/** A program of Node in a version: that of the tests, or one that the machine has. */
async function nodeOf(major: number): Promise<string | undefined> {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
  for (const path of [process.execPath, ...folders.map((one) => join(one, 'node'))]) {
    if (!existsSync(path)) continue
    const { stdout } = await run(path, ['--version'])
    if (stdout.startsWith(`v${major}.`)) return path
  }
}

/** A session token as the platform signs it, with further claims. */
function signedToken(key: KeyObject, claims: Record<string, unknown>): string {
  const exp = Math.floor(Date.now() / 1000) + 300
  const all = { iss: 'https://platform.example', aud: 'example-pay', provider: 'example-pay', purpose: 'session', exp }
  const [head, payload] = [{ alg: 'EdDSA' }, { ...all, scopes: [], ...claims }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signature = sign(null, Buffer.from(`${head}.${payload}`), key).toString('base64url')
  return `${head}.${payload}.${signature}`
}

it('the package has the version of the newest entry of its changelog, and no tests or sources', async () => {
  const changelog = readFileSync(join(ROOT, 'libs/app-sdk/CHANGELOG.md'), 'utf8')
  expect(packed.version).toBe(/^## (.*)$/m.exec(changelog)?.[1])
  const paths = packed.files.map(({ path }) => path)
  expect(paths).toEqual(expect.arrayContaining(['CHANGELOG.md', 'LICENSE', 'README.md', 'index.js', 'index.d.ts']))
  expect(paths.filter((path) => /test|(?<!\.d)\.ts$/.test(path))).toEqual([])
})

it.each([20, 24])('the packed SDK is installed and works under Node %i', async (major) => {
  const node = await nodeOf(major)
  if (node === undefined) throw new Error(`this test needs Node ${major} on the PATH`)
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const wid = randomUUID()
  const session = signedToken(privateKey, { wid, wsn: 'Shop' })
  const key = randomBytes(24)
  const [id, timestamp, body] = ['msg_1', String(Math.floor(Date.now() / 1000)), '{"type":"order.paid"}']
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('hex')
  writeFileSync(join(folder, 'program.js'), PROGRAM)
  const given = {
    pem: publicKey.export({ type: 'spki', format: 'pem' }),
    session,
    secret: `whsec_${key.toString('base64')}`,
    webhook: {
      headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
      body,
    },
    encryptionKey: randomBytes(32).toString('base64'),
    api: 'http://127.0.0.1:9',
  }
  const { stdout } = await run(node, ['program.js', JSON.stringify(given)], { cwd: folder })
  expect(JSON.parse(stdout)).toEqual({
    workspaceId: wid,
    isDate: true,
    event: 'order.paid',
    forgedToken: true,
    forgedWebhook: true,
    away: true,
  })
})

it('its types are complete: a program in TypeScript is checked with all of them, and a mistake in it is found', async () => {
  const check = async (program: string) => {
    writeFileSync(join(folder, 'program.ts'), program)
    const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', 'node']
    const args = [...strict, '--typeRoots', join(ROOT, 'node_modules/@types'), 'program.ts']
    return run('tsc', args, { cwd: folder }).then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    )
  }
  expect(await check(PROGRAM)).toBe('')
  const mistake = /^program\.ts\(\d+,\d+\): error TS/
  expect(await check(PROGRAM.replace("'/v1/products'", "'/v1/nothing'"))).toMatch(mistake)
  expect(await check(PROGRAM.replace('{ pem }', '{ key: pem }'))).toMatch(mistake)
})
