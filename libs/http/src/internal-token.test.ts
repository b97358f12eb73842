import { generateKeyPairSync } from 'node:crypto'
import { aCaller, TESTED_SERVICE, testSigner, testTokenKey, testVerifier } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { TOKEN_LIFETIME_MS, tokenVerifier } from './internal-token.ts'
import { expectRefusal, thingsApi } from './testing/things-api.ts'

const { admin, db } = await testDatabase('catalog')
const { send } = await thingsApi(db)
const caller = aCaller()
const now = new Date()
const exp = Math.floor(now.getTime() / 1000) + 60
const signer = testSigner()
const sign = (at = now) => testSigner().forwarded(caller, TESTED_SERVICE, at)
const anotherKey = generateKeyPairSync('ed25519')

/** Signed with the gateway's key, whatever the claims and the header. */
const signed = (claims: Record<string, unknown>, header: { kid?: string } = { kid: testTokenKey.id }) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', ...header }).sign(testTokenKey.privateKey)

async function withOtherClaims(): Promise<string> {
  const [head, , signature] = (await sign()).split('.')
  const claims = Buffer.from(JSON.stringify({ exp, aud: TESTED_SERVICE, caller: aCaller() })).toString('base64url')
  return `${head}.${claims}.${signature}`
}

it.each<[string, () => Promise<string> | string]>([
  ['empty', () => ''],
  ['no token at all', () => 'secret'],
  ['for another service', () => signer.forwarded(caller, 'orders', now)],
  ['for no service', () => signed({ exp, caller })],
  ['not signed', () => new UnsecuredJWT({ caller }).setExpirationTime(exp).encode()],
  ['without an end', () => signed({ caller, aud: TESTED_SERVICE })],
  ['without a caller', () => signed({ exp, aud: TESTED_SERVICE })],
  ['for no workspace', () => signed({ exp, aud: TESTED_SERVICE, caller: { ...caller, workspaceId: 'all' } })],
])('a token that is %s is invalid_api_key, nothing written', async (_what, token) => {
  const headers = { 'x-internal-token': await token() }
  const answer = await send('POST', '/v1/things', { caller: null, headers, body: { name: 'mug' } })
  expectRefusal(answer, 401, 'invalid_api_key', 'The request did not come through the gateway')
  expect(await admin`select from outbox`).toHaveLength(0)
})

it.each<[string, string, () => Promise<string>]>([
  ['signed with another key', testTokenKey.id, () => testSigner(anotherKey).forwarded(caller, TESTED_SERVICE, now)],
  ['of an unknown key id', 'gone', () => testSigner({ keyId: 'gone' }).forwarded(caller, TESTED_SERVICE, now)],
  ['without a key id', '', () => signed({ exp, caller, aud: TESTED_SERVICE }, {})],
  ['changed after signing', testTokenKey.id, withOtherClaims],
])(
  'a token %s is service_unavailable, nothing written, and the log names the setting and the key',
  async (_what, keyId, token) => {
    const headers = { 'x-internal-token': await token() }
    const answer = await send('POST', '/v1/things', { caller: null, headers, body: { name: 'mug' } })
    expectRefusal(answer, 503, 'service_unavailable', 'The service cannot answer now; try again shortly')
    const cause = { message: `INTERNAL_TOKEN_PUBLIC_KEYS: the key "${keyId}" is missing or another one` }
    await expect(testVerifier()(await token(), now)).rejects.toMatchObject({ cause })
    expect(await admin`select from outbox`).toHaveLength(0)
  },
)

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

it('a token that has expired is service_unavailable, nothing written: the key of the client is good', async () => {
  const headers = { 'x-internal-token': await sign(new Date(now.getTime() - TOKEN_LIFETIME_MS - 60_000)) }
  const answer = await send('POST', '/v1/things', { caller: null, headers, body: { name: 'mug' } })
  expectRefusal(answer, 503, 'service_unavailable', 'The request has waited too long; send it again')
  expect(answer.headers['retry-after']).toBe('1')
  expect(await admin`select from outbox`).toHaveLength(0)
})

it('a token that passed once is refused all the same when it has expired', async () => {
  const verify = testVerifier()
  const token = await sign()
  const later = new Date(now.getTime() + TOKEN_LIFETIME_MS + 60_000)
  for (let time = 0; time < 2; time++) expect(await verify(token, now)).toMatchObject({ caller, isService: false })
  await expect(verify(token, later)).rejects.toMatchObject({ code: 'service_unavailable' })
})

it('a token is accepted while the clock of the service that signed it is a minute behind, or ahead', async () => {
  // Signed 40 s ago, and now.
  for (const apart of [-100_000, 60_000])
    expect(await testVerifier()(await sign(new Date(now.getTime() + apart)), now)).toMatchObject({ caller })
})

describe('a change of the key', () => {
  const pairs = { old: testTokenKey, new: { id: 'new', ...anotherKey } }
  const verifierOf = (...names: (keyof typeof pairs)[]) =>
    tokenVerifier({
      audience: TESTED_SERVICE,
      keys: new Map(names.map((name) => [pairs[name].id, pairs[name].publicKey])),
    })
  const tokenOf = (name: keyof typeof pairs) =>
    testSigner({ keyId: pairs[name].id, privateKey: pairs[name].privateKey }).forwarded(caller, TESTED_SERVICE, now)

  it('old and new tokens are accepted while both keys are there', async () => {
    const verify = verifierOf('old', 'new')
    for (const name of ['old', 'new'] as const) expect(await verify(await tokenOf(name), now)).toMatchObject({ caller })
  })

  it('tokens of the old key end with it', async () => {
    await expect(verifierOf('new')(await tokenOf('old'), now)).rejects.toMatchObject({ code: 'service_unavailable' })
  })
})
