import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { TOKEN_HEADER } from './doctor-keys.ts'

/** An installation that the doctor invents. */
export interface InventedInstallation {
  readonly workspaceId: string
  readonly provider: string
  readonly audience: string
  readonly scopes: readonly string[]
  readonly issuer: string
  readonly apiKey: string
  /** `whsec_…` */
  readonly webhookSecret: string
}

type Claims = Readonly<Record<string, unknown>>

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A JWT by EdDSA. */
export function signedToken(claims: Claims, key: KeyObject): string {
  const signed = `${encoded(TOKEN_HEADER)}.${encoded(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

/** A JWT that claims to need no signature (RFC 7519, 6). */
const unsignedToken = (claims: Claims): string => `${encoded({ ...TOKEN_HEADER, alg: 'none' })}.${encoded(claims)}.`

const seconds = () => Math.floor(Date.now() / 1000)

/** The claims of a provision token (OP-82), valid and never used. */
export const provisionClaims = ({ issuer, audience, workspaceId, scopes }: InventedInstallation): Claims => ({
  iss: issuer,
  aud: audience,
  wid: workspaceId,
  purpose: 'provision',
  scopes,
  jti: randomUUID(),
  iat: seconds(),
  exp: seconds() + 300,
})

/** The claims of a session token (OP-83). */
export const sessionClaims = ({ issuer, audience, workspaceId, scopes, provider }: InventedInstallation): Claims => ({
  iss: issuer,
  aud: audience,
  wid: workspaceId,
  wsn: 'App doctor',
  wsd: null,
  provider,
  purpose: 'session',
  scopes,
  iat: seconds(),
  exp: seconds() + 300,
})

/** The headers of a webhook (OP-62). `signedAt` is in Unix seconds. */
export function webhookHeaders(
  body: string,
  { secret, id, signedAt = seconds() }: { readonly secret: string; readonly id: string; readonly signedAt?: number },
): Record<string, string> {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const digest = createHmac('sha256', key).update(`${id}.${signedAt}.${body}`).digest('hex')
  return { 'webhook-id': id, 'webhook-timestamp': String(signedAt), 'webhook-signature': `v1,${digest}` }
}

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
    ['a token signed by another key', `Bearer ${signedToken(claims, generateKeyPairSync('ed25519').privateKey)}`],
    ['a token whose claims were changed', `Bearer ${head}.${raised}.${signature}`],
    ['an expired token', by({ exp: Math.floor(Date.now() / 1000) - 600 })],
    ['a token for another audience', by({ aud: `not-${claims.aud}` })],
    ['a token of another issuer', by({ iss: 'https://elsewhere.example' })],
    ['a token for another purpose', by({ purpose })],
  ]
}
