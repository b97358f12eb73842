import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { type Caller, INTERNAL_TOKEN_HEADER, tokenVerifier } from '@backoffice/http/internal-token.ts'
import { TokenSigner } from '@backoffice/http/token-signer.ts'

export type { Caller }

const keys = generateKeyPairSync('ed25519')
const KEY_ID = 'test'

/** The name that a service in the test's own process has in tokens. */
export const TESTED_SERVICE = 'tested'

/** The settings of services as processes that make and accept the tokens of tests. */
export const TOKEN_SETTINGS = {
  INTERNAL_TOKEN_PUBLIC_KEYS: `${KEY_ID}:${keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`,
  INTERNAL_TOKEN_PRIVATE_KEYS: `${KEY_ID}:${keys.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')}`,
} as const

/** Signs the tokens of tests, with `keyId` and `privateKey` unless the test names others. */
export const testSigner = (
  { keyId = KEY_ID, privateKey = keys.privateKey }: { keyId?: string; privateKey?: KeyObject } = {},
  issuer = 'gateway',
): TokenSigner => new TokenSigner({ issuer, keyId, privateKey })

/** Verifies the tokens of tests for a service. */
export const testVerifier = (audience = TESTED_SERVICE) =>
  tokenVerifier({ audience, keys: new Map([[KEY_ID, keys.publicKey]]) })

/** The pair that `testSigner` signs with. */
export const testTokenKey = { id: KEY_ID, ...keys } as const

/** A caller with full access to a new workspace; `differences` replace its members. */
export const aCaller = (differences: Partial<Caller> = {}): Caller => ({
  workspaceId: randomUUID(),
  livemode: true,
  keyId: 'key',
  appKeyId: null,
  scopes: ['*'],
  productStatuses: [...PRODUCT_STATUSES],
  ...differences,
})

type HeadersOf = (caller: Caller, service?: string) => Promise<Record<string, string>>

/** Makes the headers of a call that a service makes itself, with tokens of this signer. */
export const ownCallHeaders =
  (signer: TokenSigner): HeadersOf =>
  async (caller, service = TESTED_SERVICE) =>
    withRequestId(await signer.ownCall(caller, service, new Date()))

const withRequestId = (token: string) => ({ [INTERNAL_TOKEN_HEADER]: token, 'x-request-id': randomUUID() })

const signer = testSigner()

/** The headers of a caller's request that the gateway forwards to a service, which accepts the tokens of tests. */
export const headersOf: HeadersOf = async (caller, service = TESTED_SERVICE) =>
  withRequestId(await signer.forwarded(caller, service, new Date()))
/** The headers of another service's call to it. */
export const serviceHeadersOf = ownCallHeaders(signer)
/** The headers of whoever sends requests to this path: other services call `/internal`. */
export const headersFor = (path: string): HeadersOf => (path.startsWith('/internal/') ? serviceHeadersOf : headersOf)
