import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { CommandError } from '../command/command-error.ts'

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

/** Serves the doctor's public key on loopback at the platform's paths (OP-82). Port 0 takes a free one. */
export async function serveKeys({ jwks, pem }: DoctorKey, port: number) {
  const files = new Map([
    ['/.well-known/jwks.json', { type: 'application/jwk-set+json', content: jwks }],
    ['/.well-known/platform.pem', { type: 'application/x-pem-file', content: pem }],
  ])
  const server = createServer(({ url = '' }, response) => {
    const file = files.get(url)
    if (file) return response.writeHead(200, { 'content-type': file.type }).end(file.content)
    return response.writeHead(404).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`port ${port} cannot be used (${error.code}): choose another with --port`)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
