import { generateKeyPairSync } from 'node:crypto'
import type { SigningKey } from '@backoffice/secrets/signing-keys.ts'
import { base64url, decodeJwt, decodeProtectedHeader, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose'
import type { Answer, RequestHeaders } from './ask.ts'
import { type Examined, expectRefusal, type Finding } from './finding.ts'

/** Sends a call with each token that an app must refuse. `name` is the call's in the findings. */
export async function checkForgedTokens(
  { key, tokenHeaders }: Examined,
  name: string,
  purpose: 'provision' | 'session',
  send: (headers: RequestHeaders) => Promise<Answer>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [fault, headers] of await forgedTokens(await tokenHeaders(purpose), key))
    findings.push(expectRefusal(`${name} refuses ${fault}`, await send(headers)))
  return findings
}

/** Headers with tokens that an app must refuse, each with its fault, made from those with a valid token. */
async function forgedTokens({ authorization = '' }: RequestHeaders, { privateKey }: SigningKey) {
  const bearer = (token: string): RequestHeaders => ({ authorization: `Bearer ${token}` })
  const [, valid = ''] = authorization.split(' ')
  const [head, payload, signature] = valid.split('.')
  const header = decodeProtectedHeader(valid) as JWTHeaderParameters
  const claims = decodeJwt(valid)
  const signed = async (differences: JWTPayload, key = privateKey) =>
    bearer(await new SignJWT({ ...claims, ...differences }).setProtectedHeader(header).sign(key))
  const encoded = (value: object) => base64url.encode(JSON.stringify(value))
  const anotherPurpose = claims.purpose === 'session' ? 'provision' : 'session'
  return [
    ['a call without a token', {}],
    ['a token that is no JWT', bearer('sk_test_1')],
    // It claims to need no signature (RFC 7519, 6).
    ['a token with alg none', bearer(`${encoded({ ...header, alg: 'none' })}.${payload}.`)],
    ['a token signed by another key', await signed({}, generateKeyPairSync('ed25519').privateKey)],
    ['a token whose claims were changed', bearer(`${head}.${encoded({ ...claims, scopes: ['*'] })}.${signature}`)],
    ['an expired token', await signed({ exp: Math.floor(Date.now() / 1000) - 600 })],
    ['a token for another audience', await signed({ aud: `not-${claims.aud}` })],
    ['a token for another provider', await signed({ provider: `not-${claims.provider}` })],
    ['a token without a provider', await signed({ provider: undefined })],
    ['a token of another issuer', await signed({ iss: 'https://elsewhere.example' })],
    ['a token for another purpose', await signed({ purpose: anotherPurpose })],
  ] as const
}
