import { randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** A new signing key: 32 random bytes (OP-62). */
export const newSigningKey = (): Buffer => randomBytes(32)

/** The text of a signing secret in answers: `whsec_` and the key in base64 (OP-62). */
export const signingSecretOf = (key: Buffer): string => PREFIX + key.toString('base64')

/** The owner of an endpoint's secret, which its sealing is bound to. */
export const secretOwner = (workspaceId: string, endpointId: string): string => `${workspaceId}/${endpointId}`
