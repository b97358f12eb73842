import type { SigningKeys } from '@backoffice/secrets/signing-keys.ts'
import { SignJWT } from 'jose'
import { v4 as uuidv4 } from 'uuid'

/** How long a token is valid, in seconds (OP-82, OP-83). */
const LIFETIME_SECONDS = 300

/** The installation that a token speaks of. */
export interface TokenSubject {
  readonly workspaceId: string
  readonly workspaceName: string
  readonly workspaceDomain: string | null
  readonly provider: string
  readonly audience: string
  readonly scopes: readonly string[]
}

/** Signs the tokens that prove to an app that the platform speaks, with the first key, as EdDSA JWTs. */
export function appTokens([{ id, privateKey }]: SigningKeys, issuer: string) {
  async function sign(subject: TokenSubject, claims: Record<string, unknown>, now: Date) {
    const issuedAt = Math.floor(now.getTime() / 1000)
    const expiresAt = issuedAt + LIFETIME_SECONDS
    const token = await new SignJWT({ wid: subject.workspaceId, ...claims, scopes: subject.scopes })
      .setProtectedHeader({ alg: 'EdDSA', kid: id, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(subject.audience)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(privateKey)
    return { token, expiresAt: new Date(expiresAt * 1000) }
  }
  return {
    /** For provision and uninstall; each has a `jti` of its own (OP-82). */
    provision: (subject: TokenSubject, now: Date) => sign(subject, { purpose: 'provision', jti: uuidv4() }, now),
    /** For the embed and create-checkout (OP-83). */
    session(subject: TokenSubject, now: Date) {
      const { workspaceName: wsn, workspaceDomain: wsd, provider } = subject
      return sign(subject, { purpose: 'session', wsn, wsd, provider }, now)
    },
  }
}
export type AppTokens = ReturnType<typeof appTokens>
