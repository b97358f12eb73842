import { execFile } from 'node:child_process'
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { appsGuide, blocks } from './testing/partner-guide.ts'
import { PythonMissing, pythonPackage } from './testing/python-package.ts'

/* Among the fault tests, since pip installs PyJWT. */

const run = promisify(execFile)
const platform = generateKeyPairSync('ed25519')
const stranger = generateKeyPairSync('ed25519')
const now = Math.floor(Date.now() / 1000)
const SESSION = {
  iss: 'https://platform.example',
  aud: 'example-pay',
  provider: 'example-pay',
  purpose: 'session',
  wid: '0198c7a0-0000-7000-8000-000000000001',
  exp: now + 300,
}

const base64 = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** A token with these claims, signed by EdDSA with the platform's key unless given. */
function signed(claims: object, key: KeyObject = platform.privateKey, kid = 'k1'): string {
  const text = `${base64({ alg: 'EdDSA', kid })}.${base64(claims)}`
  return `Bearer ${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`
}

/** Signed by HMAC with the public key for a secret, which a verifier that believes the header accepts. */
function confused(claims: object): string {
  const text = `${base64({ alg: 'HS256', kid: 'k1' })}.${base64(claims)}`
  const secret = platform.publicKey.export({ type: 'spki', format: 'pem' })
  return `Bearer ${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

const { exp: _, ...endless } = SESSION
const { provider: __, ...nobody } = SESSION
const [head, payload, signature] = signed(SESSION).split('.')

const CASES: readonly [name: string, authorization: string | null, isAccepted: boolean][] = [
  ['a session token', signed(SESSION), true],
  ['an expired token', signed({ ...SESSION, exp: now - 60 }), false],
  ['a token without an end', signed(endless), false],
  ['another issuer', signed({ ...SESSION, iss: 'https://evil.example' }), false],
  ['another audience', signed({ ...SESSION, aud: 'other-pay' }), false],
  ['another app of the same audience', signed({ ...SESSION, provider: 'other-pay' }), false],
  ['no app', signed(nobody), false],
  ['another purpose', signed({ ...SESSION, purpose: 'provision' }), false],
  ['the key of a stranger', signed(SESSION, stranger.privateKey), false],
  ['an unknown key id', signed(SESSION, platform.privateKey, 'k9'), false],
  ['another one', signed(SESSION, platform.privateKey, 'k8'), false],
  ['an algorithm of the attacker', confused(SESSION), false],
  ['no algorithm', `Bearer ${base64({ alg: 'none', kid: 'k1' })}.${base64(SESSION)}.`, false],
  ['other claims under the signature', `${head}.${base64({ ...SESSION, wid: 'other' })}.${signature}`, false],
  ['no bearer token', `Basic ${head?.slice(7)}.${payload}.${signature}`, false],
  ['no header', null, false],
  ['a session token while the keys cannot be read', signed(SESSION), true],
]

const PROGRAM = `
import json, sys
import jwt
import tokens

tokens.KEYS = tokens.PlatformKeys(sys.argv[1])

def is_accepted(authorization):
    try:
        return tokens.verify_token(authorization, "session")["wid"] == sys.argv[2]
    except jwt.PyJWTError:
        return False

print(json.dumps([is_accepted(authorization) for authorization in json.load(open("cases.json"))]))
`

it('the snippet for Python accepts session tokens of the platform, and no other', async ({ skip }) => {
  const packages = await pythonPackage('pyjwt[crypto]==2.10.1', 'jwt, cryptography').catch((error: unknown) => {
    if (error instanceof PythonMissing) skip(error.message)
    throw error
  })
  using folder = mkdtempDisposableSync(join(tmpdir(), 'backoffice-python-'))
  const jwk = { ...platform.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'EdDSA', use: 'sig' }
  let reads = 0
  const server = createServer((_request, response) => {
    if (++reads > 1) response.writeHead(503)
    response.end(JSON.stringify({ keys: [jwk] }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  writeFileSync(join(folder.path, 'tokens.py'), blocks('python', appsGuide).join('\n'))
  writeFileSync(join(folder.path, 'cases.json'), JSON.stringify(CASES.map(([, authorization]) => authorization)))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/jwks.json`
  const env = { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' }
  const { stdout } = await run('python3', ['-c', PROGRAM, url, SESSION.wid], { cwd: folder.path, env }).finally(() =>
    server.close(),
  )
  // The first token and the first one with an unknown key.
  expect(reads).toBe(2)
  const verdicts = JSON.parse(stdout) as boolean[]
  expect(CASES.map(([name], index) => [name, verdicts[index]])).toEqual(CASES.map(([name, , is]) => [name, is]))
})
