import type { JsonWebKey } from 'node:crypto'
import { refuseOtherMethods } from '@backoffice/http/other-methods.ts'
import type { SigningKeys } from '@backoffice/secrets/signing-keys.ts'
import type { FastifyInstance } from 'fastify'

/** How long apps may cache the keys, in seconds. A new key is published before it signs. */
const MAX_AGE_SECONDS = 300

/** Answers `/.well-known/jwks.json` and `/.well-known/platform.pem`: the public keys of tokens (OP-82). */
export function addPublicKeys(app: FastifyInstance, keys: SigningKeys): void {
  const files = [
    { url: '/.well-known/jwks.json', type: 'application/jwk-set+json', content: JSON.stringify(jwksOf(keys)) },
    { url: '/.well-known/platform.pem', type: 'application/x-pem-file', content: pemOf(keys) },
  ]
  for (const { url, type, content } of files) {
    app.get(url, (_request, reply) =>
      reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`).type(type).send(content),
    )
    refuseOtherMethods(app, url, ['GET'])
  }
}

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
