import { generateKeyPairSync } from 'node:crypto'
import { SigningKeys } from '@backoffice/secrets/signing-keys.ts'

const privateKey = () =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')

/** Two entries of APP_TOKEN_KEYS. */
export const tokenKeyEntries = [`first:${privateKey()}`, `second:${privateKey()}`] as const
export const testTokenKeys = SigningKeys.parse(tokenKeyEntries.join(','))

/** A value of APP_SECRET_KEYS. */
export const testSecretKeys = `test:${Buffer.alloc(32, 7).toString('base64')}`
