import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startKafka } from '@backoffice/testing/servers/kafka.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'

/** Starts a broker of a test file's own, because it is killed or stands still. It ends after the file's last test. */
export async function ownBroker() {
  const directory = mkdtempSync(join(tmpdir(), 'broker-'))
  chmodSync(directory, 0o755)
  const broker = await startKafka({ directory })
  whenDone(async () => {
    await broker.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  return broker
}
