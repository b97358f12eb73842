import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import { jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'

/** The caller, as authenticated by the gateway and passed to the services in a signed token. */
export const Caller = z.object({
  workspaceId: z.guid(),
  livemode: z.boolean(),
  keyId: z.string(),
  scopes: z.array(z.string()),
  /** Product statuses the workspace has switched on (OP-13). */
  productStatuses: z.array(z.enum(PRODUCT_STATUSES)),
})
export type Caller = z.output<typeof Caller>

/** The caller of one request, and the ids of the request. */
export type RequestContext = Caller &
  WorkspaceContext & {
    readonly requestId: string
    /** The caller's token, for calls to another service on the caller's behalf. */
    readonly token: string
  }

/** The header that carries the token from gateway to service. */
export const INTERNAL_TOKEN_HEADER = 'x-internal-token'

/** How long a token is valid, in milliseconds. */
export const TOKEN_LIFETIME_MS = 60_000

/** Signs a caller's token, valid for 60 s. `privateKey` is base64 DER PKCS8, Ed25519. */
export function tokenSigner(privateKey: string): (caller: Caller, now: Date) => Promise<string> {
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  return (caller, now) => {
    const issuedAt = Math.floor(now.getTime() / 1000)
    return new SignJWT({ caller })
      .setProtectedHeader({ alg: 'EdDSA' })
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + TOKEN_LIFETIME_MS / 1000)
      .sign(key)
  }
}

/** The public half of a private key: base64 DER SPKI from base64 DER PKCS8. */
export function publicKeyOf(privateKey: string): string {
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')
}

/** Verifies tokens. A valid token is cached until it expires. `publicKey` is base64 DER SPKI. */
export function tokenVerifier(publicKey: string): (token: string | undefined, now: Date) => Promise<Caller> {
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  const verified = new LRUCache<string, { caller: Caller; expiresAt: number }>({ max: 10_000 })
  return async (token = '', now) => {
    const known = verified.get(token)
    if (known !== undefined && known.expiresAt > now.getTime()) return known.caller
    const { caller, expiresAt } = await readToken(token, key, now)
    verified.set(token, { caller, expiresAt })
    return caller
  }
}

async function readToken(token: string, key: KeyObject, now: Date) {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['EdDSA'],
      currentDate: now,
      clockTolerance: 5,
      requiredClaims: ['exp'],
    })
    return { caller: Caller.parse(payload.caller), expiresAt: (payload.exp ?? 0) * 1000 }
  } catch (cause) {
    throw new ApiError('invalid_api_key', 'The request did not come through the gateway', { cause })
  }
}
