import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { PasswordOf } from '@backoffice/postgres/provision.ts'
import { readJson, replaceJson } from './json-file.ts'

/** The passwords, tokens and keys of a stack. */
export type Secrets = ReturnType<typeof newSecrets>

/** The password of each role of the database. */
export const rolePasswords =
  ({ rolePasswordSeed }: Secrets): PasswordOf =>
  (role) =>
    createHmac('sha256', rolePasswordSeed).update(role).digest('base64url')

/** The key id of the tokens between services. */
export const INTERNAL_KEY_ID = 'local'

/** The key that signs the tokens between services, for callers from outside the stack. */
export const internalSigningKey = ({ internalPrivateKey }: Secrets): { keyId: string; privateKey: KeyObject } => ({
  keyId: INTERNAL_KEY_ID,
  privateKey: createPrivateKey({ key: Buffer.from(internalPrivateKey, 'base64'), format: 'der', type: 'pkcs8' }),
})

/**
 * Reads the secrets of the stack in a folder. Its first start creates them, a later version adds its own; only their
 * owner can read the file.
 */
export function stackSecrets(directory: string): Secrets {
  const file = join(directory, 'secrets.json')
  const known = readJson<Partial<Secrets>>(file) ?? {}
  const secrets = { ...newSecrets(), ...known }
  if (Object.keys(known).length < Object.keys(secrets).length) replaceJson(file, secrets)
  return secrets
}

const randomText = () => randomBytes(24).toString('base64url')
const randomKey = () => `local:${randomBytes(32).toString('base64')}`
const keyPair = () =>
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })

/** New passwords, tokens and keys. */
export function newSecrets() {
  const internal = keyPair()
  return {
    adminToken: randomText(),
    /** The passwords of the database's roles are derived from it, one for each. */
    rolePasswordSeed: randomText(),
    /** Ed25519 key pair of the tokens between services: base64 DER, PKCS8 and SPKI. */
    internalPrivateKey: internal.privateKey.toString('base64'),
    internalPublicKey: internal.publicKey.toString('base64'),
    /** Makes the check at the end of API keys: `<key id>:<base64 of 32 bytes>`. */
    apiKeyCheckKey: randomKey(),
    /** Seals the secrets of webhook endpoints, in the same form. */
    webhookSecretKey: randomKey(),
    /** Seals what apps keeps for its calls, in the same form. */
    appSecretKey: randomKey(),
    /** Signs the tokens for apps: `<key id>:<base64 DER PKCS8, Ed25519>`. */
    appTokenKey: `local:${keyPair().privateKey.toString('base64')}`,
  }
}
