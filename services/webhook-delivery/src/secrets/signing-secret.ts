import { randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** A new signing key: 32 random bytes (OP-62). */
export const newSigningKey = (): Buffer => randomBytes(32)

/** The signing secret as its owner is shown it once: `whsec_` and the key in base64 (OP-62). */
export const signingSecretOf = (key: Buffer): string => PREFIX + key.toString('base64')

/** Whose secret an endpoint's is: what its sealing is bound to. */
export const secretOwner = (workspaceId: string, endpointId: string): string => `${workspaceId}/${endpointId}`
