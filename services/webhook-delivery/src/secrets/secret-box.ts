import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { z } from 'zod'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Keys that seal secrets, by key id; the first one seals, all of them open. */
export type SecretKeys = ReadonlyMap<string, Buffer>

/** `<key id>:<base64 of 32 bytes>`, comma-separated. A refusal never repeats the value, of which a key may be any part. */
export const SecretKeys = z.string().transform((text, context): SecretKeys => {
  const keys = new Map<string, Buffer>()
  for (const [index, entry] of text.split(',').entries()) {
    const [id = '', encoded, ...rest] = entry.trim().split(':')
    const key = Buffer.from(encoded ?? '', 'base64')
    const problem = problemOf(id, encoded, rest, key) ?? (keys.has(id) ? 'repeats a key id' : undefined)
    if (problem !== undefined) {
      context.addIssue(
        `must be <key id>:<base64 of 32 bytes>, comma-separated, each key id once: entry ${index + 1} ${problem}`,
      )
      return z.NEVER
    }
    keys.set(id, key)
  }
  return keys
})

/** Decoding passes over what is no base64, so that a mistyped key would silently be another one. */
function problemOf(id: string, encoded: string | undefined, rest: string[], key: Buffer): string | undefined {
  if (id === '' || encoded === undefined || rest.length > 0) return 'is not a key id and a key with one colon between'
  if (key.toString('base64') !== encoded) return 'is not base64 as RFC 4648 writes it, with its padding'
  if (key.length !== KEY_BYTES) return `is a key of ${key.length} bytes`
  return undefined
}

/** A secret as it is stored. */
export interface SealedSecret {
  readonly keyId: string
  /** Nonce, ciphertext and tag. */
  readonly sealed: Buffer
}

/** Seals a secret with AES-256-GCM. `owner` says whose it is: opened for another owner, it does not open. */
export function sealSecret(keys: SecretKeys, secret: Buffer, owner: string): SealedSecret {
  const [first] = keys
  if (first === undefined) throw new Error('there is no key to seal secrets with')
  const [keyId, key] = first
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(owner))
  const sealed = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
  return { keyId, sealed }
}

/** Opens a sealed secret. Throws when its key is not known, and when secret, key and owner do not belong together. */
export function openSecret(keys: SecretKeys, { keyId, sealed }: SealedSecret, owner: string): Buffer {
  const key = keys.get(keyId)
  if (key === undefined) throw new Error(`WEBHOOK_SECRET_KEYS has no key ${keyId}`)
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(owner))
    .setAuthTag(sealed.subarray(-TAG_BYTES))
  // Not copied into Node's pool, 64 KiB of which a secret would keep for as long as it is known.
  const secret = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES))
  decipher.final()
  return secret
}
