import { randomBytes } from 'node:crypto'
import { z } from 'zod'

const PREFIX = 'whsec_'
const KEY_BYTES = 32

/** A new signing key: 32 random bytes (OP-62). */
export const newSigningKey = (): Buffer => randomBytes(KEY_BYTES)

/** The text of a signing secret in answers: `whsec_` and the key in base64 (OP-62). */
export const signingSecretOf = (key: Buffer): string => PREFIX + key.toString('base64')

/** A signing secret in a request, as its key. A refusal does not repeat it. */
export const SigningSecret = z.string().transform((text, context): Buffer => {
  const key = Buffer.from(text.slice(PREFIX.length), 'base64')
  // Node's decoder skips characters that are not base64, so the text is compared with the one of the key.
  if (key.length === KEY_BYTES && signingSecretOf(key) === text) return key
  context.addIssue(`must be ${PREFIX} and the base64 of ${KEY_BYTES} bytes`)
  return z.NEVER
})

/** The owner of an endpoint's secret, which its sealing is bound to. */
export const secretOwner = (workspaceId: string, endpointId: string): string => `${workspaceId}/${endpointId}`
