import { Who } from '@backoffice/contracts/app.ts'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import type { VerifyingKeys } from '@backoffice/secrets/signing-keys.ts'
import { errors, type JWTHeaderParameters, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'

/** The caller, as authenticated by the gateway and passed to the services in a signed token. */
export const Caller = z.object({
  workspaceId: z.guid(),
  livemode: z.boolean(),
  keyId: z.string(),
  /** Whether a session of the console asks, also one of support. */
  console: z.literal(true).optional(),
  /** For whom a service calls, or that it is support. A key acts for its merchant, and lacks it. */
  who: Who.optional(),
  /** The key of an app, which this key is; null for a key of the workspace. Tokens of services lack it. */
  appKeyId: z.guid().nullish(),
  scopes: z.array(z.string()),
  /** Product statuses the workspace has switched on (OP-13). */
  productStatuses: z.array(z.enum(PRODUCT_STATUSES)),
  /** The workspace's setting (OP-214). Tokens of services lack it. */
  cartPriceSeconds: z.int().min(0).optional(),
})
export type Caller = z.output<typeof Caller>

/** The caller of one request, and the ids of the request. */
export type RequestContext = Caller & WorkspaceContext & { readonly requestId: string }

export const INTERNAL_TOKEN_HEADER = 'x-internal-token'

export const TOKEN_LIFETIME_MS = 60_000
/** Services read the clock of their database (OP-302) at different times. It may have been set in between. */
const CLOCK_TOLERANCE_S = 60

export interface VerifiedToken {
  readonly caller: Caller
  /** Whether a service signed it for a call of its own: only such a token opens internal operations. */
  readonly isService: boolean
}

/** Verifies a token. Throws `invalid_api_key`, and `service_unavailable` where the caller's key may be good. */
export type TokenVerifier = (token: string | undefined, now: Date) => Promise<VerifiedToken>

interface Verifying {
  /** The service that verifies: a token is for one service only. */
  readonly audience: string
  readonly keys: VerifyingKeys
}

/** Verifies tokens for a service. A valid token is cached until it expires. */
export function tokenVerifier(verifying: Verifying): TokenVerifier {
  const verified = new LRUCache<string, VerifiedToken & { readonly expiresAt: number }>({ max: 10_000 })
  return async (token = '', now) => {
    const known = verified.get(token)
    if (known !== undefined && known.expiresAt > now.getTime()) return known
    const read = await readToken(token, verifying, now)
    verified.set(token, read)
    return read
  }
}

/** The log has so many characters of a key id: anybody who reaches the port may send a long one. */
const LONGEST_KEY_ID = 64

async function readToken(token: string, { audience, keys }: Verifying, now: Date) {
  let keyId = ''
  const keyOf = ({ kid = '' }: JWTHeaderParameters) => {
    keyId = String(kid).slice(0, LONGEST_KEY_ID)
    const key = keys.get(kid)
    if (key === undefined) throw new errors.JWKSNoMatchingKey()
    return key
  }
  try {
    const { payload } = await jwtVerify(token, keyOf, {
      algorithms: ['EdDSA'],
      audience,
      currentDate: now,
      clockTolerance: CLOCK_TOLERANCE_S,
      requiredClaims: ['exp'],
    })
    return {
      caller: Caller.parse(payload.caller),
      isService: payload.service === true,
      expiresAt: (payload.exp ?? 0) * 1000,
    }
  } catch (cause) {
    // Well signed: the request has waited for a process that stood still. Its client must not take its key for revoked.
    if (cause instanceof errors.JWTExpired)
      throw new ApiError('service_unavailable', 'The request has waited too long; send it again', { cause })
    // An operator has changed the keys in the wrong order. A 503 raises an alert, a 401 would not.
    if (cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWSSignatureVerificationFailed) {
      const wrongKey = new Error(`INTERNAL_TOKEN_PUBLIC_KEYS: the key "${keyId}" is missing or another one`, { cause })
      throw new ApiError('service_unavailable', 'The service cannot answer now; try again shortly', { cause: wrongKey })
    }
    throw new ApiError('invalid_api_key', 'The request did not come through the gateway', { cause })
  }
}
