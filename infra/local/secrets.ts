import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The passwords, tokens and keys of a stack. */
export interface Secrets {
  readonly adminToken: string
  readonly rolePassword: string
  /** Ed25519 key pair of the tokens between gateway and services: base64 DER, PKCS8 and SPKI. */
  readonly internalPrivateKey: string
  readonly internalPublicKey: string
  /** `<key id>:<base64 of 32 bytes>`. */
  readonly webhookSecretKey: string
}

/** Reads the secrets of the stack in a folder. Its first start creates them; only their owner can read the file. */
export function stackSecrets(directory: string): Secrets {
  const file = join(directory, 'secrets.json')
  if (!existsSync(file)) {
    writeFileSync(`${file}.new`, JSON.stringify(newSecrets(), null, 2), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}

function newSecrets(): Secrets {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    adminToken: randomBytes(24).toString('base64url'),
    rolePassword: randomBytes(24).toString('base64url'),
    internalPrivateKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    internalPublicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    webhookSecretKey: `local:${randomBytes(32).toString('base64')}`,
  }
}
