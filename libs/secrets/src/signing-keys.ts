import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { keysById } from './keys-by-id.ts'

export interface SigningKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** The key pairs: the first signs, all of them verify. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]]

export type VerifyingKeys = ReadonlyMap<string, KeyObject>

/**
 * `<key id>:<base64 DER PKCS8, Ed25519>`, comma-separated. To rotate, add the new
 * key last, then make it the first, then remove the old one once its tokens have expired.
 */
export const SigningKeys = keysById(
  '<base64 of an Ed25519 PKCS8 key>',
  (encoded) => privateKeyOf(encoded) ?? 'is not',
).transform((keys): SigningKeys => {
  const [first, ...others] = [...keys].map(([id, privateKey]) => signingKey(id, privateKey))
  return [first as SigningKey, ...others]
})

/** `<key id>:<base64 DER SPKI, Ed25519>`, comma-separated. */
export const VerifyingKeys = keysById('<base64 of an Ed25519 SPKI key>', (encoded) => publicKeyOf(encoded) ?? 'is not')

/** A private key with its public half. */
export const signingKey = (id: string, privateKey: KeyObject): SigningKey => ({
  id,
  privateKey,
  publicKey: createPublicKey(privateKey),
})

function privateKeyOf(encoded: string): KeyObject | undefined {
  return ed25519(() => createPrivateKey({ key: Buffer.from(encoded, 'base64'), format: 'der', type: 'pkcs8' }))
}

function publicKeyOf(encoded: string): KeyObject | undefined {
  return ed25519(() => createPublicKey({ key: Buffer.from(encoded, 'base64'), format: 'der', type: 'spki' }))
}

function ed25519(read: () => KeyObject): KeyObject | undefined {
  try {
    const key = read()
    return key.asymmetricKeyType === 'ed25519' ? key : undefined
  } catch {
    return undefined
  }
}
