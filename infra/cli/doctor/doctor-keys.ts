import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** The key by which the doctor signs tokens. The platform's own key never leaves the platform. */
export interface DoctorKey {
  readonly privateKey: KeyObject
  readonly jwks: string
  /** SPKI, for apps that pin the key. */
  readonly pem: string
}

const KEY_ID = 'app-doctor'

/** Reads the key from a file, or makes one there: an app keeps a key that it has read, so each run needs the same. */
export function doctorKey(file: string): DoctorKey {
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true })
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' })
  }
  const privateKey = createPrivateKey(readFileSync(file))
  const publicKey = createPublicKey(privateKey)
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'EdDSA', use: 'sig' }
  return {
    privateKey,
    jwks: JSON.stringify({ keys: [jwk] }),
    pem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  }
}

/** The head of tokens by this key. */
export const TOKEN_HEADER = { alg: 'EdDSA', kid: KEY_ID, typ: 'JWT' }
