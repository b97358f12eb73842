import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** What is signed: the event id, the Unix second of signing, and the body exactly as it is sent. */
export interface SignedParts {
  readonly id: string
  readonly timestamp: number
  readonly body: Buffer | string
}

export interface Signing {
  /** Newest first. */
  readonly keys: readonly SigningKey[]
  /** Whether a base64 signature follows, as stock Standard Webhooks libraries read it (OP-62). */
  readonly isStandardToo: boolean
}

/** A key that signs; one that was replaced does until its overlap ends (OP-63). */
export interface SigningKey {
  readonly key: Buffer
  readonly endsAt: Date | null
}

/**
 * The Webhook-Signature header: HMAC-SHA256 over `id.timestamp.body` (spec: Delivery headers; OP-62). One hex entry for
 * each key that has not ended, newest first, then the base64 ones in the same order; entries are separated by spaces
 * (OP-98).
 */
export function signatureOf({ keys, isStandardToo }: Signing, parts: SignedParts, now: Date): string {
  const current = keys.filter(({ endsAt }) => endsAt === null || now < endsAt)
  const digests = current.map(({ key }) => digestOf(key, parts))
  const encodings = isStandardToo ? (['hex', 'base64'] as const) : (['hex'] as const)
  return encodings.flatMap((encoding) => digests.map((digest) => `v1,${digest.toString(encoding)}`)).join(' ')
}

const digestOf = (key: Buffer, { id, timestamp, body }: SignedParts): Buffer =>
  createHmac('sha256', keyObjectOf(key)).update(`${id}.${timestamp}.`).update(body).digest()

/** Made once for each key: making one takes longer than signing. */
const keyObjects = new WeakMap<Buffer, KeyObject>()

function keyObjectOf(key: Buffer): KeyObject {
  const known = keyObjects.get(key)
  if (known !== undefined) return known
  const made = createSecretKey(key)
  keyObjects.set(key, made)
  return made
}
