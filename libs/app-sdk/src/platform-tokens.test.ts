import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { type JWTPayload, SignJWT } from 'jose'
import { expect, it } from 'vitest'
import { type PlatformKeys, platformTokens } from './platform-tokens.ts'
import { usedTokensInMemory } from './used-tokens.ts'

type Claims = Readonly<Record<string, unknown>>

const ISSUER = 'https://platform.example'
const WORKSPACE = '0198c7a0-0001-7000-8000-000000000001'

const newKey = (id: string) => ({ id, ...generateKeyPairSync('ed25519') })
const [first, second, stranger] = [newKey('k1'), newKey('k2'), newKey('k3')]
const pem = first.publicKey.export({ format: 'pem', type: 'spki' }).toString()
const jwks = await startReceiver()
const publish = (...keys: (typeof first)[]) => {
  const set = {
    keys: keys.map(({ id, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid: id, alg: 'EdDSA' })),
  }
  jwks.answerWith((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(set)),
  )
}
publish(first, second)

const tokensBy = (keys: PlatformKeys) =>
  platformTokens({ issuer: ISSUER, provider: 'pay', keys, usedTokens: usedTokensInMemory() })
const byPem = tokensBy({ pem })
const byJwks = tokensBy({ jwksUrl: `${jwks.url}/.well-known/jwks.json` })

const seconds = () => Math.floor(Date.now() / 1000)
const provisionClaims = (): Claims => ({
  iss: ISSUER,
  aud: 'pay',
  wid: WORKSPACE,
  purpose: 'provision',
  provider: 'pay',
  scopes: ['sale'],
  jti: crypto.randomUUID(),
  exp: seconds() + 300,
})
const sessionClaims = (): Claims => ({
  ...provisionClaims(),
  jti: undefined,
  purpose: 'session',
  wsn: 'Demo',
  wsd: null,
})
const bearer = async (claims: Claims, { id, privateKey }: { id: string; privateKey: KeyObject } = first) =>
  `Bearer ${await new SignJWT(claims as JWTPayload).setProtectedHeader({ alg: 'EdDSA', kid: id }).sign(privateKey)}`
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

it.each([
  ['a pinned PEM', byPem],
  ['the JWK set', byJwks],
])('accepts tokens of the platform by %s', async (_, tokens) => {
  expect(await tokens.provision(await bearer(provisionClaims()))).toEqual({ workspaceId: WORKSPACE, scopes: ['sale'] })
  const claims = sessionClaims()
  expect(await tokens.session(await bearer(claims))).toEqual({
    workspaceId: WORKSPACE,
    workspaceName: 'Demo',
    workspaceDomain: null,
    provider: 'pay',
    scopes: ['sale'],
    expiresAt: new Date(Number(claims.exp) * 1000),
  })
})

it('accepts tokens of every key in the JWK set, so that keys can be rotated', async () => {
  expect(await byJwks.provision(await bearer(provisionClaims(), second))).toBeDefined()
  await expect(byPem.provision(await bearer(provisionClaims(), second))).rejects.toMatchObject({ reason: 'signature' })
})

it.each<[string, Partial<Claims>]>([
  ['expired', { exp: seconds() - 60 }],
  ['audience', { aud: 'another-app' }],
  ['audience', { aud: undefined }],
  ['issuer', { iss: 'https://elsewhere.example' }],
  ['purpose', { purpose: 'session' }],
  ['purpose', { purpose: undefined }],
  ['provider', { provider: 'another-app' }],
  ['provider', { provider: undefined }],
  ['malformed', { exp: undefined }],
  ['malformed', { jti: undefined }],
  ['malformed', { wid: '../../etc/passwd' }],
])('refuses a provision token as %s: %o', async (reason, differences) => {
  const authorization = await bearer({ ...provisionClaims(), ...differences })
  await expect(byPem.provision(authorization)).rejects.toMatchObject({ name: 'TokenRefused', reason })
})

it.each<[string, string, () => Promise<string> | string | undefined]>([
  ['no header', 'missing', () => undefined],
  ['another scheme', 'missing', () => 'Basic YTpi'],
  ['no JWT', 'malformed', () => 'Bearer sk_live_1'],
  ['alg none', 'signature', () => `Bearer ${encoded({ alg: 'none' })}.${encoded(provisionClaims())}.`],
  ['another key', 'signature', () => bearer(provisionClaims(), stranger)],
  ['another key under a known id', 'signature', () => bearer(provisionClaims(), { ...stranger, id: first.id })],
  [
    'another key without an id',
    'signature',
    () =>
      new SignJWT(provisionClaims() as JWTPayload)
        .setProtectedHeader({ alg: 'EdDSA' })
        .sign(stranger.privateKey)
        .then((token) => `Bearer ${token}`),
  ],
  [
    'an HMAC by the public key',
    'signature',
    () => {
      const signed = `${encoded({ alg: 'HS256', kid: first.id })}.${encoded(provisionClaims())}`
      return `Bearer ${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}`
    },
  ],
  [
    'changed claims',
    'signature',
    async () => {
      const [header, , signature] = (await bearer(provisionClaims())).split('.')
      return `${header}.${encoded({ ...provisionClaims(), scopes: ['*'] })}.${signature}`
    },
  ],
])('refuses %s', async (_, reason, authorization) => {
  for (const tokens of [byPem, byJwks]) {
    await expect(tokens.provision(await authorization())).rejects.toMatchObject({ name: 'TokenRefused', reason })
  }
})

it('accepts a provision token once, also when it comes twice at the same moment', async () => {
  const authorization = await bearer(provisionClaims())
  const results = await Promise.allSettled([1, 2, 3].map(() => byPem.provision(authorization)))
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
  await expect(byPem.provision(authorization)).rejects.toMatchObject({ reason: 'replayed' })
})

it('a refused token does not count as used', async () => {
  const claims = provisionClaims()
  await expect(byPem.provision(await bearer(claims, stranger))).rejects.toThrow()
  expect(await byPem.provision(await bearer(claims))).toBeDefined()
})

it('a session token is accepted until it expires, and is no provision token', async () => {
  const authorization = await bearer(sessionClaims())
  await byPem.session(authorization)
  await byPem.session(authorization)
  await expect(byPem.provision(authorization)).rejects.toMatchObject({ reason: 'purpose' })
  await expect(byPem.session(await bearer(provisionClaims()))).rejects.toMatchObject({ reason: 'purpose' })
})

it('the audience is the provider unless given', async () => {
  const tokens = platformTokens({
    issuer: ISSUER,
    provider: 'pay',
    audience: 'https://pay.example',
    keys: { pem },
    usedTokens: usedTokensInMemory(),
  })
  const claims = provisionClaims()
  await expect(tokens.provision(await bearer(claims))).rejects.toMatchObject({ reason: 'audience' })
  expect(await tokens.provision(await bearer({ ...claims, aud: 'https://pay.example' }))).toBeDefined()
  const session = { ...sessionClaims(), aud: 'https://pay.example', provider: 'another-app' }
  await expect(tokens.session(await bearer(session))).rejects.toMatchObject({ reason: 'provider' })
})

it('keys that cannot be read are no refusal of the token', async () => {
  const tokens = tokensBy({ jwksUrl: 'http://127.0.0.1:1/jwks.json' })
  const failure = tokens.provision(await bearer(provisionClaims()))
  await expect(failure).rejects.toThrow()
  await expect(failure).rejects.not.toMatchObject({ name: 'TokenRefused' })
})

it('forgets used tokens that have expired', async () => {
  let now = 0
  const used = usedTokensInMemory(() => now)
  expect(await used.use('a', new Date(1000))).toBe(true)
  now = 999
  expect(await used.use('a', new Date(1000))).toBe(false)
  now = 1000
  expect(await used.use('a', new Date(2000))).toBe(true)
})
