import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { type Caller, INTERNAL_TOKEN_HEADER, tokenSigner } from '@backoffice/http/internal-token.ts'

const keys = generateKeyPairSync('ed25519')

/** The public half of the key that `headersOf` signs with: base64 DER SPKI. */
export const tokenKey = keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
/** The private half: base64 DER PKCS8. */
export const tokenPrivateKey = keys.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')

/** A caller with full access to a new workspace; `differences` replace its members. */
export const aCaller = (differences: Partial<Caller> = {}): Caller => ({
  workspaceId: randomUUID(),
  livemode: true,
  keyId: 'key',
  scopes: ['*'],
  productStatuses: [...PRODUCT_STATUSES],
  ...differences,
})

/** Returns a function that makes the gateway's headers for a caller. `privateKey` is base64 DER PKCS8. */
export function headerSigner(privateKey: string): (caller: Caller) => Promise<Record<string, string>> {
  const sign = tokenSigner(privateKey)
  return async (caller) => ({
    [INTERNAL_TOKEN_HEADER]: await sign(caller, new Date()),
    'x-request-id': randomUUID(),
  })
}

/** Makes the gateway's headers for services that trust `tokenKey`. */
export const headersOf = headerSigner(tokenPrivateKey)
