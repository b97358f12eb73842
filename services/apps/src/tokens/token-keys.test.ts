import { createPublicKey } from 'node:crypto'
import { createApp } from '@backoffice/http/app.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { SigningKeys } from '@backoffice/secrets/signing-keys.ts'
import { createLocalJWKSet, importSPKI, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { tokenKeyEntries } from '../testing/test-keys.ts'
import { appTokens } from './app-tokens.ts'
import { addPublicKeys, jwksOf, pemOf } from './token-keys.ts'

const [first, second] = tokenKeyEntries
const keysOf = (...entries: string[]) => SigningKeys.parse(entries.join(','))
const subject = {
  workspace_id: crypto.randomUUID(),
  workspace_name: 'Shop',
  workspace_domain: null,
  app_manifest: { provider: 'pay', audience: 'https://pay.example', scopes: [], embed: '/' },
  manifest: { provider: 'pay', scopes: ['sale'], embed: '/' },
}
const issuer = 'https://platform.test'
const now = new Date('2026-05-01T10:00:00.900Z')
const at = { currentDate: now, issuer, audience: subject.app_manifest.audience, algorithms: ['EdDSA'] }
const signedWith = async (...entries: string[]) =>
  (await appTokens(keysOf(...entries), issuer).provision(subject, now)).token

describe('a rotation in three steps', () => {
  test('a token verifies with the keys of the step before it and after it', async () => {
    const steps = [[first], [first, second], [second, first], [second]]
    for (const [index, entries] of steps.entries()) {
      const token = await signedWith(...entries)
      for (const other of steps.slice(Math.max(0, index - 1), index + 2)) {
        const known = createLocalJWKSet(jwksOf(keysOf(...other)) as never)
        await expect(jwtVerify(token, known, at)).resolves.toBeDefined()
      }
    }
  })

  test('a token of a key that was removed verifies no more', async () => {
    const known = createLocalJWKSet(jwksOf(keysOf(second)) as never)
    await expect(jwtVerify(await signedWith(first), known, at)).rejects.toThrow('no applicable key')
  })
})

test('the JWK set has every public key and no private one; the PEM is the key that signs', async () => {
  const keys = keysOf(first, second)
  const { keys: shown } = jwksOf(keys)
  const common = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', x: expect.any(String) }
  expect(shown).toEqual([
    { ...common, kid: 'first' },
    { ...common, kid: 'second' },
  ])
  expect(createPublicKey(pemOf(keys)).equals(keys[0].publicKey)).toBe(true)
  await jwtVerify(await signedWith(first, second), await importSPKI(pemOf(keys), 'EdDSA'), at)
})

test('a session token names the workspace and the provider, and holds for 300 seconds (OP-83)', async () => {
  const { token, expiresAt } = await appTokens(keysOf(first), issuer).session(subject, now)
  const known = createLocalJWKSet(jwksOf(keysOf(first)) as never)
  const { payload, protectedHeader } = await jwtVerify(token, known, at)
  const iat = Math.floor(now.getTime() / 1000)
  expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: 'first', typ: 'JWT' })
  expect(payload).toEqual({
    iss: issuer,
    aud: 'https://pay.example',
    iat,
    exp: iat + 300,
    wid: subject.workspace_id,
    wsn: 'Shop',
    wsd: null,
    purpose: 'session',
    provider: 'pay',
    scopes: ['sale'],
  })
  expect(expiresAt).toEqual(new Date((iat + 300) * 1000))
  await expect(jwtVerify(token, known, { ...at, currentDate: new Date((iat + 301) * 1000) })).rejects.toThrow('exp')
})

test.each([
  ['', 'entry 1'],
  ['only-an-id', 'entry 1'],
  [`${first},second:AAAA`, 'entry 2'],
  [`${first},${first}`, 'each key id once'],
  [`:${first.slice(6)}`, 'entry 1'],
])('the setting %# is refused without its value in the message', (value, message) => {
  const { error } = SigningKeys.safeParse(value)
  expect(error?.issues[0]?.message).toContain(message)
  expect(error?.message).not.toContain(first.slice(10, 40))
})

test('both files may be kept for five minutes, and take no other method', async () => {
  const app = createApp({ logger: createLogger('test', 'silent'), trustRequestId: false })
  addPublicKeys(app, keysOf(first, second))
  for (const url of ['/.well-known/jwks.json', '/.well-known/platform.pem']) {
    const answer = await app.inject({ url })
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([200, 'public, max-age=300'])
    expect((await app.inject({ url, method: 'POST' })).statusCode).toBe(405)
  }
})
