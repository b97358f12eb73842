import type { SigningKeys } from '@backoffice/secrets/signing-keys.ts'
import { SignJWT } from 'jose'
import { v4 as uuidv4 } from 'uuid'
import { audienceOf } from '../apps/app-row.ts'
import { type InstallationRow, scopesOf } from '../apps/installation-rows.ts'

/** How long a token is valid, in seconds (OP-82, OP-83). */
const LIFETIME_SECONDS = 300

/** What a token says of an installation. */
type TokenSubject = Pick<
  InstallationRow,
  'workspace_id' | 'workspace_name' | 'workspace_domain' | 'app_manifest' | 'manifest'
>

/** Signs the tokens that prove to an app that the platform speaks, with the first key, as EdDSA JWTs. */
export function appTokens([{ id, privateKey }]: SigningKeys, issuer: string) {
  async function sign(subject: TokenSubject, claims: Record<string, unknown>, now: Date, scopes = scopesOf(subject)) {
    const issuedAt = Math.floor(now.getTime() / 1000)
    const expiresAt = issuedAt + LIFETIME_SECONDS
    const { provider } = subject.app_manifest
    const token = await new SignJWT({ wid: subject.workspace_id, provider, ...claims, scopes })
      .setProtectedHeader({ alg: 'EdDSA', kid: id, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(audienceOf(subject.app_manifest))
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(privateKey)
    return { token, expiresAt: new Date(expiresAt * 1000) }
  }
  return {
    /** For provision and uninstall, each with its `jti` (OP-82); `scopes` are the installation's unless given. */
    provision: (subject: TokenSubject, now: Date, scopes?: string[]) =>
      sign(subject, { purpose: 'provision', jti: uuidv4() }, now, scopes),
    /** For the embed and create-checkout (OP-83). */
    session(subject: TokenSubject, now: Date) {
      const { workspace_name: wsn, workspace_domain: wsd } = subject
      return sign(subject, { purpose: 'session', wsn, wsd }, now)
    },
  }
}
export type AppTokens = ReturnType<typeof appTokens>
