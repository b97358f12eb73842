import type { KeyObject } from 'node:crypto'
import { otherKey, signedToken, unsignedToken } from './sign.ts'

type Claims = Readonly<Record<string, unknown>>

/** Authorization headers that an app must refuse, each with its fault. `purpose` does not fit the call. */
export function forgedTokens(
  claims: Claims,
  key: KeyObject,
  purpose: string,
): (readonly [string, string | undefined])[] {
  const by = (differences: Claims) => `Bearer ${signedToken({ ...claims, ...differences }, key)}`
  const [head, , signature] = signedToken(claims, key).split('.')
  const raised = Buffer.from(JSON.stringify({ ...claims, scopes: ['*'] })).toString('base64url')
  return [
    ['a call without a token', undefined],
    ['a token that is no JWT', 'Bearer sk_test_1'],
    ['a token with alg none', `Bearer ${unsignedToken(claims)}`],
    ['a token signed by another key', `Bearer ${signedToken(claims, otherKey())}`],
    ['a token whose claims were changed', `Bearer ${head}.${raised}.${signature}`],
    ['an expired token', by({ exp: Math.floor(Date.now() / 1000) - 600 })],
    ['a token for another audience', by({ aud: `not-${claims.aud}` })],
    ['a token of another issuer', by({ iss: 'https://elsewhere.example' })],
    ['a token for another purpose', by({ purpose })],
  ]
}
