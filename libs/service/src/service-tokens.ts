import { randomUUID } from 'node:crypto'
import { type CalledBy, calledBy, type ServiceName } from '@backoffice/contracts/services.ts'
import { type TokenVerifier, tokenVerifier } from '@backoffice/http/internal-token.ts'
import { TokenSigner } from '@backoffice/http/token-signer.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import {
  PrivateKey,
  PublicKey,
  type SigningKey,
  SigningKeys,
  signingKey,
  VerifyingKeys,
} from '@backoffice/secrets/signing-keys.ts'
import type { z } from 'zod'

/** The public keys of the tokens between services. */
export const VERIFYING = {
  INTERNAL_TOKEN_PUBLIC_KEYS: VerifyingKeys.optional()
    .describe(
      'The public keys of the tokens between services: `<key id>:<base64 DER SPKI, Ed25519>`, comma-separated. Required, unless `INTERNAL_TOKEN_PUBLIC_KEY` is set.',
    )
    // Not a secret; a file of it may be kept beside that of the private keys.
    .meta({ file: true }),
  INTERNAL_TOKEN_PUBLIC_KEY: PublicKey.optional().describe(
    'The one public key, without an id, of the version before: base64 DER SPKI, Ed25519.',
  ),
}
/** The private keys, for services that call others. */
export const SIGNING = {
  INTERNAL_TOKEN_PRIVATE_KEYS: SigningKeys.optional()
    .describe(
      'The private keys of the tokens between services: `<key id>:<base64 DER PKCS8, Ed25519>`, comma-separated. The first signs. Required, unless `INTERNAL_TOKEN_PRIVATE_KEY` is set.',
    )
    .meta({ secret: true }),
  INTERNAL_TOKEN_PRIVATE_KEY: PrivateKey.optional()
    .describe('The one private key, without an id, of the version before: base64 DER PKCS8, Ed25519.')
    .meta({ secret: true }),
}

type TokenSettings = Partial<z.output<z.ZodObject<typeof VERIFYING & typeof SIGNING>>>

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
  settings: TokenSettings,
): Promise<ServiceTokens<Name>> {
  const signing = calledBy(name).length > 0 ? signingOf(settings) : undefined
  const verifying = verifyingOf(settings, signing)
  const verify = tokenVerifier({ audience: name, ...verifying })
  if (signing === undefined) return { verify, signer: undefined as never, signingKeys: [] }
  const [{ privateKey }] = signing.keys
  const signer = new TokenSigner({ issuer: name, privateKey, keyId: signing.keyId })
  await verifyOnce(name, signer, verify)
  return { verify, signer: signer as never, signingKeys: signing.keys }
}

/** The private keys. One from the setting of the version before has no id: its replicas accept the tokens too. */
function signingOf({ INTERNAL_TOKEN_PRIVATE_KEYS: keys, INTERNAL_TOKEN_PRIVATE_KEY: former }: TokenSettings) {
  if (keys !== undefined) return { keys, keyId: keys[0].id }
  if (former !== undefined) return { keys: [signingKey('', former)] as const, keyId: undefined }
  throw new Error('configuration: INTERNAL_TOKEN_PRIVATE_KEYS: is missing; this service calls others')
}

function verifyingOf(settings: TokenSettings, signing: ReturnType<typeof signingOf> | undefined) {
  const { INTERNAL_TOKEN_PUBLIC_KEYS: keys, INTERNAL_TOKEN_PUBLIC_KEY: former } = settings
  // The gateway of the version before had no public key.
  const ownKey = signing?.keyId === undefined ? signing?.keys[0].publicKey : undefined
  const formerKey = former ?? (keys === undefined ? ownKey : undefined)
  if (keys === undefined && formerKey === undefined)
    throw new Error(
      'configuration: INTERNAL_TOKEN_PUBLIC_KEYS: is missing; it has the keys that verify tokens of services',
    )
  return { keys: keys ?? new Map(), formerKey }
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
