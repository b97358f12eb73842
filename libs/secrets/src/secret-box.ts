import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { keysById } from './keys-by-id.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Keys by key id: the first key seals secrets, and all of them open secrets. */
export type SecretKeys = ReadonlyMap<string, Buffer>

/** `<key id>:<base64 of 32 bytes>`, comma-separated. */
export const SecretKeys = keysById('<base64 of 32 bytes>', (encoded) => {
  const key = Buffer.from(encoded, 'base64')
  // Node's decoder skips characters that are not base64: a mistyped key would silently become another key.
  if (key.toString('base64') !== encoded) return 'is not base64 as RFC 4648 writes it, with its padding'
  return key.length === KEY_BYTES ? key : `is a key of ${key.length} bytes`
})

export interface SealedSecret {
  readonly keyId: string
  /** Nonce, ciphertext and tag. */
  readonly sealed: Buffer
}

/** Seals a secret with AES-256-GCM. It opens only with the same `owner`. */
export function sealSecret(keys: SecretKeys, secret: Buffer, owner: string): SealedSecret {
  const [first] = keys
  if (first === undefined) throw new Error('there is no key to seal secrets with')
  const [keyId, key] = first
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(owner))
  const sealed = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
  return { keyId, sealed }
}

/** Opens a sealed secret. Throws when its key is unknown, and when secret, key and owner do not belong together. */
export function openSecret(keys: SecretKeys, { keyId, sealed }: SealedSecret, owner: string): Buffer {
  const key = keys.get(keyId)
  if (key === undefined) throw new Error(`the secret keys have no key ${keyId}`)
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(owner))
    .setAuthTag(sealed.subarray(-TAG_BYTES))
  // Used without a copy: a copy would be part of Node's buffer pool, and keep 64 KiB of it in memory as long as the
  // secret.
  const secret = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES))
  decipher.final()
  return secret
}

/** An error that names the key ids in use that are not among the keys, and their variable; undefined without any. */
export function unknownKeys(variable: string, used: readonly string[], keys: SecretKeys): Error | undefined {
  const unknown = new Set(used.filter((id) => !keys.has(id)))
  if (unknown.size === 0) return undefined
  return new Error(`${variable} lacks keys that stored secrets use: ${[...unknown].join(', ')}`)
}
