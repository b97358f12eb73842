import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PasswordOf } from '@backoffice/postgres/provision.ts'

/** The passwords, tokens and keys of a stack. */
export interface Secrets {
  readonly adminToken: string
  /** The passwords of the database's roles are derived from it, one for each. */
  readonly rolePasswordSeed: string
  /** Ed25519 key pair of the tokens between services: base64 DER, PKCS8 and SPKI. */
  readonly internalPrivateKey: string
  readonly internalPublicKey: string
  /** `<key id>:<base64 of 32 bytes>`. */
  readonly webhookSecretKey: string
  /** Makes the check at the end of API keys, in the same form. */
  readonly apiKeyCheckKey: string
  /** Seals what apps keeps for its calls, in the same form. */
  readonly appSecretKey: string
  /** Signs the tokens for apps: `<key id>:<base64 DER PKCS8, Ed25519>`. */
  readonly appTokenKey: string
}

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
  const known: Partial<Secrets> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const secrets = { ...newSecrets(), ...known }
  if (Object.keys(known).length < Object.keys(secrets).length) {
    writeFileSync(`${file}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  return secrets
}

/** New passwords, tokens and keys. */
export function newSecrets(): Secrets {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    adminToken: randomBytes(24).toString('base64url'),
    rolePasswordSeed: randomBytes(24).toString('base64url'),
    internalPrivateKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    internalPublicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    apiKeyCheckKey: `local:${randomBytes(32).toString('base64')}`,
    webhookSecretKey: `local:${randomBytes(32).toString('base64')}`,
    appSecretKey: `local:${randomBytes(32).toString('base64')}`,
    appTokenKey: `local:${generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')}`,
  }
}
