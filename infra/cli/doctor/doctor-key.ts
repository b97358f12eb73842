import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createApp } from '@backoffice/http/app.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { type SigningKey, signingKey } from '@backoffice/secrets/signing-keys.ts'
import { addPublicKeys } from '../../../services/apps/src/tokens/token-keys.ts'
import { CommandError } from '../command/command-error.ts'

/**
 * The key by which the doctor signs tokens; the platform's own key never leaves the platform. Reads it from a file, or
 * makes one there: an app keeps a key that it has read, so each run needs the same.
 */
export function doctorKey(file: string): SigningKey {
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true })
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' })
  }
  return signingKey('app-doctor', createPrivateKey(readFileSync(file)))
}

/** Serves the doctor's public key on loopback at the platform's paths (OP-82). Port 0 takes a free one. */
export async function serveKey(key: SigningKey, port: number) {
  const app = createApp({ logger: createLogger('app doctor', 'silent'), trustRequestId: false })
  addPublicKeys(app, [key])
  const url = await app.listen({ port, host: '127.0.0.1' }).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`port ${port} cannot be used (${error.code}): choose another with --port`)
  })
  return { url, stop: () => app.close() }
}
