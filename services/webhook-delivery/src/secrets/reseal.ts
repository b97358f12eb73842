import { openDatabase } from '@backoffice/postgres/database.ts'
import { WORKER_DATABASE, workerServer } from '@backoffice/postgres/database-settings.ts'
import { refuseWrongDatabase } from '@backoffice/postgres/refuse-wrong-database.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { runCommand } from '@backoffice/runtime/run-command.ts'
import { z } from 'zod'
import { resealSecrets } from './reseal-secrets.ts'
import { missingKeys, SECRET_KEYS } from './secret-keys.ts'

/**
 * `npm run reseal -w services/webhook-delivery`: seals every signing secret with the first of the keys, while the
 * service runs. Prints counts, never a secret. Exits with 1 while there are secrets that another key has sealed.
 */
const ResealConfig = z.object({ ...WORKER_DATABASE, ...SECRET_KEYS })

async function reseal(): Promise<number> {
  const config = readConfig(ResealConfig)
  const [server, keys] = [workerServer(config), config.WEBHOOK_SECRET_KEYS]
  await refuseWrongDatabase(server, 'WORKER_DATABASE_URL')
  const db = openDatabase({ ...server, applicationName: 'webhook-delivery reseal', poolSize: 1 })
  try {
    const missing = await missingKeys(db.sql, keys)
    if (missing !== undefined) throw missing
    const { resealed, left } = await resealSecrets(db.sql, keys)
    console.log(`secrets resealed: ${resealed}, left under another key: ${left}`)
    return left === 0 ? 0 : 1
  } finally {
    await db.stop?.()
  }
}

await runCommand(reseal, 1)
