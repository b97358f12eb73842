import type { JsonWebKey } from 'node:crypto'
import type { SigningKeys } from '@backoffice/secrets/signing-keys.ts'

/** The public keys of the tokens for apps as a JWK set (RFC 7517; OP-82). */
export const jwksOf = (keys: SigningKeys): { keys: JsonWebKey[] } => ({
  keys: keys.map(({ id, publicKey }) => ({
    ...publicKey.export({ format: 'jwk' }),
    kid: id,
    alg: 'EdDSA',
    use: 'sig',
  })),
})

/** The public key of the signing key, as SPKI PEM. */
export const pemOf = ([signing]: SigningKeys): string =>
  signing.publicKey.export({ format: 'pem', type: 'spki' }).toString()
