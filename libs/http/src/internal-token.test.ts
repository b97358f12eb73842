import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { aCaller, tokenKey, tokenPrivateKey } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { SignJWT, UnsecuredJWT } from 'jose'
import { expect, it } from 'vitest'
import { TOKEN_LIFETIME_MS, tokenSigner, tokenVerifier } from './internal-token.ts'
import { expectRefusal, thingsApi } from './testing/things-api.ts'

const { admin, db } = await testDatabase('catalog')
const { send } = await thingsApi(db)
const caller = aCaller()
const now = new Date()
const exp = Math.floor(now.getTime() / 1000) + 60
const sign = tokenSigner(tokenPrivateKey)
const anotherKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')

/** Signed with the gateway's key, whatever the claims. */
const signed = (claims: Record<string, unknown>) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA' })
    .sign(createPrivateKey({ key: Buffer.from(tokenPrivateKey, 'base64'), format: 'der', type: 'pkcs8' }))

async function withOtherClaims(): Promise<string> {
  const [head, , signature] = (await sign(caller, now)).split('.')
  const claims = Buffer.from(JSON.stringify({ exp, caller: aCaller() })).toString('base64url')
  return `${head}.${claims}.${signature}`
}

it.each<[string, () => Promise<string> | string]>([
  ['empty', () => ''],
  ['no token at all', () => 'secret'],
  ['signed with another key', () => tokenSigner(anotherKey)(caller, now)],
  ['changed after signing', withOtherClaims],
  ['not signed', () => new UnsecuredJWT({ caller }).setExpirationTime(exp).encode()],
  ['expired', () => sign(caller, new Date(now.getTime() - TOKEN_LIFETIME_MS - 60_000))],
  ['without an end', () => signed({ caller })],
  ['without a caller', () => signed({ exp })],
  ['for no workspace', () => signed({ exp, caller: { ...caller, workspaceId: 'all' } })],
])('a token that is %s is invalid_api_key, nothing written', async (_what, token) => {
  const headers = { 'x-internal-token': await token() }
  const answer = await send('POST', '/v1/things', { caller: null, headers, body: { name: 'mug' } })
  expectRefusal(answer, 401, 'invalid_api_key', 'The request did not come through the gateway')
  expect(await admin`select from outbox`).toHaveLength(0)
})

it.each([
  ['the path', 'GET', '/v1/things/7', {}],
  ['the query', 'GET', '/v1/things?page=x', {}],
  ['the body', 'POST', '/v1/things', { body: Buffer.from('{') }],
  ['the content type', 'POST', '/v1/things', { body: Buffer.from('a'), contentType: 'text/plain' }],
  ['the size', 'POST', '/v1/things', { body: Buffer.alloc(2_000_000) }],
])('who calls is asked before %s is looked at', async (_part, method, path, sent) => {
  expectRefusal(await send(method, path, { ...sent, caller: null }), 401, 'invalid_api_key', '')
  const noScope = aCaller({ scopes: ['webhook'] })
  expectRefusal(await send(method, path, { ...sent, caller: noScope }), 403, 'insufficient_scope', '')
})

it('names the scope that is lacking, nothing written (OP-02, OP-04)', async () => {
  const reader = aCaller({ scopes: ['product::read', 'sale'] })
  const answer = await send('POST', '/v1/things', { caller: reader, body: { name: 'mug' } })
  expectRefusal(answer, 403, 'insufficient_scope', 'API key lacks required scope: product::create')
  expect(await admin`select from outbox`).toHaveLength(0)
  expect((await send('GET', '/v1/things', { caller: reader })).status).toBe(200)
})

it('a token that passed once is refused all the same when it has expired', async () => {
  const verify = tokenVerifier(tokenKey)
  const token = await sign(caller, now)
  const later = new Date(now.getTime() + TOKEN_LIFETIME_MS + 10_000)
  expect(await verify(token, now)).toEqual(caller)
  expect(await verify(token, now)).toEqual(caller)
  await expect(verify(token, later)).rejects.toMatchObject({ code: 'invalid_api_key' })
})
