import { randomUUID } from 'node:crypto'
import { type CalledBy, calledBy, type ServiceName } from '@backoffice/contracts/services.ts'
import { type TokenVerifier, tokenVerifier } from '@backoffice/http/internal-token.ts'
import { TokenSigner } from '@backoffice/http/token-signer.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { type SigningKey, SigningKeys, VerifyingKeys } from '@backoffice/secrets/signing-keys.ts'
import type { z } from 'zod'

/** The public keys of the tokens between services. */
export const VERIFYING = {
  INTERNAL_TOKEN_PUBLIC_KEYS: VerifyingKeys.describe(
    'The public keys of the tokens between services: `<key id>:<base64 DER SPKI, Ed25519>`, comma-separated.',
  )
    // Not a secret; a file of it may be kept beside that of the private keys.
    .meta({ file: true }),
}
/** The private keys, for services that call others. */
export const SIGNING = {
  INTERNAL_TOKEN_PRIVATE_KEYS: SigningKeys.describe(
    'The private keys of the tokens between services: `<key id>:<base64 DER PKCS8, Ed25519>`, comma-separated. The first signs.',
  ).meta({ secret: true }),
}

type TokenSettings = z.output<z.ZodObject<typeof VERIFYING>> & Partial<z.output<z.ZodObject<typeof SIGNING>>>

/** The tokens between services, as one service verifies and signs them. */
export interface ServiceTokens<Name extends ServiceName> {
  readonly verify: TokenVerifier
  /** Of a service that calls others. */
  readonly signer: [CalledBy<Name>] extends [never] ? undefined : TokenSigner
  /** The private keys, the signing one first; none of a service that calls no other. */
  readonly signingKeys: readonly SigningKey[]
}

/**
 * Opens the tokens of a service. A signer verifies a token of its own, so that keys that do not belong together are
 * found at the start. Throws an error that names the setting to change.
 */
export async function serviceTokens<Name extends ServiceName>(
  name: Name,
  { INTERNAL_TOKEN_PUBLIC_KEYS: keys, INTERNAL_TOKEN_PRIVATE_KEYS: signingKeys }: TokenSettings,
): Promise<ServiceTokens<Name>> {
  const verify = tokenVerifier({ audience: name, keys })
  if (calledBy(name).length === 0 || signingKeys === undefined)
    return { verify, signer: undefined as never, signingKeys: [] }
  const [{ id: keyId, privateKey }] = signingKeys
  const signer = new TokenSigner({ issuer: name, privateKey, keyId })
  await verifyOnce(name, signer, verify)
  return { verify, signer: signer as never, signingKeys }
}

async function verifyOnce(name: ServiceName, signer: TokenSigner, verify: TokenVerifier): Promise<void> {
  const caller = { workspaceId: randomUUID(), livemode: true, keyId: 'check of the start', productStatuses: [] }
  try {
    await verify(await signer.ownCall(caller, name, currentTime()), currentTime())
  } catch (cause) {
    throw new Error(
      'configuration: INTERNAL_TOKEN_PUBLIC_KEYS: lacks the public half of the first key of INTERNAL_TOKEN_PRIVATE_KEYS',
      { cause },
    )
  }
}
