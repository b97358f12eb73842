import { openDatabase } from '@backoffice/postgres/database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { z } from 'zod'
import { resealSecrets } from './reseal-secrets.ts'
import { refuseMissingKeys, secretKeys } from './secret-keys.ts'

/**
 * `npm run reseal -w services/webhook-delivery`: seals every signing secret with the first of the keys, while the
 * service runs. Prints counts, never a secret. Exits with 1 while there are secrets that another key has sealed.
 */
const ResealConfig = z.object({ WORKER_DATABASE_URL: z.url(), ...secretKeys.variables }).transform(secretKeys.read)

async function reseal(): Promise<boolean> {
  const { WORKER_DATABASE_URL: url, WEBHOOK_SECRET_KEYS: keys } = readConfig(ResealConfig)
  const db = openDatabase({ url, applicationName: 'webhook-delivery reseal', poolSize: 1 })
  try {
    await refuseMissingKeys(db.sql, keys)
    const { resealed, left } = await resealSecrets(db.sql, keys)
    console.log(`secrets resealed: ${resealed}, left under another key: ${left}`)
    return left === 0
  } finally {
    await db.stop?.()
  }
}

process.exitCode = await reseal().then(
  (isComplete) => (isComplete ? 0 : 1),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    return 1
  },
)
