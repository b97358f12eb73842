import { createPublicKey } from 'node:crypto'
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import { z } from 'zod'
import { TokenRefused, tokenRefusal } from './token-refused.ts'
import type { UsedTokens } from './used-tokens.ts'

/** Where the platform's public keys come from: its JWK set, which follows a rotation, or its PEM, which you pinned. */
export type PlatformKeys = { readonly jwksUrl: string } | { readonly pem: string }

interface PlatformTokensOptions {
  /** The platform's `iss`. */
  readonly issuer: string
  /** The `provider` of your manifest: a token that names another app is refused, whatever its audience is. */
  readonly provider: string
  /** The `audience` of your manifest; its `provider` unless given. */
  readonly audience?: string
  readonly keys: PlatformKeys
  /** Remembers the provision tokens that were used. */
  readonly usedTokens: UsedTokens
}

const ProvisionClaims = z
  .object({ wid: z.guid(), scopes: z.array(z.string()), jti: z.string().min(1), exp: z.number() })
  .transform(({ wid, scopes }) => ({ workspaceId: wid, scopes }))
/** What a token for /install/provision or /install/uninstall says. */
export type ProvisionToken = z.output<typeof ProvisionClaims>

const SessionClaims = z
  .object({
    wid: z.guid(),
    wsn: z.string(),
    wsd: z.string().nullish(),
    provider: z.string(),
    scopes: z.array(z.string()),
    exp: z.number(),
  })
  .transform(({ wid, wsn, wsd, provider, scopes, exp }) => ({
    workspaceId: wid,
    workspaceName: wsn,
    workspaceDomain: wsd ?? null,
    provider,
    scopes,
    expiresAt: new Date(exp * 1000),
  }))
/** What a session token says. Take the workspace from here, never from a request's body. */
export type SessionToken = z.output<typeof SessionClaims>

/** Verifies the tokens with which the platform proves itself. */
export interface PlatformTokens {
  /** Verifies a token for /install/provision or /install/uninstall. A token is accepted once. Throws a TokenRefused. */
  provision(authorization: string | undefined): Promise<ProvisionToken>
  /** Verifies a token for the embed or for create-checkout. Throws a TokenRefused. */
  session(authorization: string | undefined): Promise<SessionToken>
}

/** The tolerated difference between clocks, in seconds. */
const CLOCK_TOLERANCE_S = 5

/**
 * Makes the functions that verify tokens; each takes the request's `Authorization` header. A token is accepted when the
 * platform has signed it by EdDSA, for this app, for this purpose, and when it has not expired. Anything else throws a
 * TokenRefused, which you answer with 401. Another error means that the platform's keys could not be read: answer 503,
 * and the platform tries again.
 */
export function platformTokens(of: PlatformTokensOptions): PlatformTokens {
  const { issuer, provider, audience = provider, keys, usedTokens } = of
  const options: JWTVerifyOptions = {
    issuer,
    audience,
    algorithms: ['EdDSA'],
    requiredClaims: ['exp'],
    clockTolerance: CLOCK_TOLERANCE_S,
  }
  const key = 'pem' in keys ? createPublicKey(keys.pem) : createRemoteJWKSet(new URL(keys.jwksUrl))

  async function claimsOf(authorization: string | undefined, purpose: 'provision' | 'session'): Promise<JWTPayload> {
    const [, token] = /^Bearer (\S+)$/i.exec(authorization ?? '') ?? []
    if (token === undefined) throw new TokenRefused('missing', 'the Authorization header has no bearer token')
    const verified = typeof key === 'function' ? jwtVerify(token, key, options) : jwtVerify(token, key, options)
    const { payload } = await verified.catch((error: unknown) => {
      throw error instanceof errors.JOSEError ? tokenRefusal(error) : error
    })
    if (payload.purpose !== purpose) throw new TokenRefused('purpose', `the token is not for the purpose ${purpose}`)
    if (payload.provider !== provider) throw new TokenRefused('provider', 'the token is for another app')
    return payload
  }

  return {
    async provision(authorization) {
      const claims = await claimsOf(authorization, 'provision')
      const token = read(ProvisionClaims, claims)
      const { jti = '', exp = 0 } = claims
      const expiresAt = new Date((exp + CLOCK_TOLERANCE_S) * 1000)
      if (!(await usedTokens.use(jti, expiresAt))) throw new TokenRefused('replayed', 'the token was used before')
      return token
    },
    session: async (authorization) => read(SessionClaims, await claimsOf(authorization, 'session')),
  }
}

function read<Claims>(schema: z.ZodType<Claims>, payload: JWTPayload): Claims {
  const { data, error } = schema.safeParse(payload)
  if (error) throw new TokenRefused('malformed', `the token's claims are not as expected: ${z.prettifyError(error)}`)
  return data
}
