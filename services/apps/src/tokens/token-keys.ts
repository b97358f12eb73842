import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'

/** A key pair that signs tokens for apps (OP-82). */
export interface TokenKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** The keys: the first signs, all of them verify. */
export type TokenKeys = readonly [TokenKey, ...TokenKey[]]

/**
 * `<key id>:<base64 DER PKCS8, Ed25519>`, comma-separated. To rotate, add the new key as the last, then make it the first, then remove
 * the old one once its tokens have expired. A refusal never repeats the value.
 */
export const TokenKeys = z.string().transform((text, context): TokenKeys => {
  const keys = text.split(',').map((entry) => tokenKeyOf(entry.trim()))
  const wrong = keys.indexOf(undefined)
  const [first, ...others] = keys as TokenKey[]
  if (wrong >= 0 || first === undefined) {
    context.addIssue(`must be <key id>:<base64 of an Ed25519 PKCS8 key>, comma-separated: entry ${wrong + 1} is not`)
    return z.NEVER
  }
  if (new Set(keys.map((key) => key?.id)).size < keys.length) {
    context.addIssue('must have each key id once')
    return z.NEVER
  }
  return [first, ...others]
})

function tokenKeyOf(entry: string): TokenKey | undefined {
  const [id = '', encoded = '', ...rest] = entry.split(':')
  if (id === '' || rest.length > 0) return undefined
  try {
    const privateKey = createPrivateKey({ key: Buffer.from(encoded, 'base64'), format: 'der', type: 'pkcs8' })
    if (privateKey.asymmetricKeyType !== 'ed25519') return undefined
    return { id, privateKey, publicKey: createPublicKey(privateKey) }
  } catch {
    return undefined
  }
}

/** The public keys as a JWK set (RFC 7517). */
export const jwksOf = (keys: TokenKeys): { keys: JsonWebKey[] } => ({
  keys: keys.map(({ id, publicKey }) => ({
    ...publicKey.export({ format: 'jwk' }),
    kid: id,
    alg: 'EdDSA',
    use: 'sig',
  })),
})

/** The public key of the signing key, as SPKI PEM. */
export const pemOf = ([signing]: TokenKeys): string =>
  signing.publicKey.export({ format: 'pem', type: 'spki' }).toString()
