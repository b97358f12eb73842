import type { KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { type Caller, TOKEN_LIFETIME_MS } from './internal-token.ts'

/** In whose name a service calls another. Without scopes: it has checked those of its own operation. */
export type CallingFor = Omit<Caller, 'scopes'>

interface Signing {
  readonly issuer: string
  readonly privateKey: KeyObject
  readonly keyId: string
}

/** A token is replaced this long before it expires, so that it does not expire on its way. */
const LEFT_MS = 15_000

/** Signs Ed25519 tokens for one service, `audience`: valid for 60 s, used again until 15 s before their end. */
export class TokenSigner {
  readonly #signing: Signing
  readonly #signed = new LRUCache<string, { readonly token: Promise<string>; readonly until: number }>({ max: 10_000 })

  constructor(signing: Signing) {
    this.#signing = signing
  }

  /** The token of a caller's request, which the gateway forwards. */
  forwarded(caller: Caller, audience: string, now: Date): Promise<string> {
    return this.#signedOnce({ caller }, audience, now)
  }

  /** The token of a call that the signing service makes itself. It opens internal operations, and no others. */
  ownCall(calling: CallingFor, audience: string, now: Date): Promise<string> {
    const { workspaceId, livemode, keyId, who, productStatuses } = calling
    const caller: Caller = { workspaceId, livemode, keyId, who, scopes: [], productStatuses }
    return this.#signedOnce({ caller, service: true }, audience, now)
  }

  #signedOnce(claims: Record<string, unknown>, audience: string, now: Date): Promise<string> {
    const key = JSON.stringify([audience, claims])
    const known = this.#signed.get(key)
    if (known !== undefined && known.until > now.getTime()) return known.token
    const token = this.#sign(claims, audience, now)
    this.#signed.set(key, { token, until: now.getTime() + TOKEN_LIFETIME_MS - LEFT_MS })
    token.catch(() => this.#signed.delete(key))
    return token
  }

  #sign(claims: Record<string, unknown>, audience: string, now: Date): Promise<string> {
    const { issuer, privateKey, keyId } = this.#signing
    const issuedAt = Math.floor(now.getTime() / 1000)
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', kid: keyId })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + TOKEN_LIFETIME_MS / 1000)
      .sign(privateKey)
  }
}
