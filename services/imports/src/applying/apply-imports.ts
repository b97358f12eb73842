import { wakeSignal } from '@backoffice/messaging/wake-signal.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { Component } from '@backoffice/runtime/process.ts'
import { noteFailure } from '../imports/note-failure.ts'
import { importsWithRoom, type Publishing, publishNext } from './publish-batches.ts'

const EVERY_MS = 1000

/**
 * Publishes the batches of started imports as their earlier ones are answered. Every replica does, since an import's row says which
 * batch is next. Call `wake` after an import was started or a batch answered.
 */
export function applyImports(publishing: Publishing, logger: Logger): Component & { wake(): void } {
  const stopping = new AbortController()
  const signal = wakeSignal()
  let ended: Promise<void> | undefined

  async function publishOnce(): Promise<number> {
    let published = 0
    for (const applying of await importsWithRoom(publishing.worker)) {
      try {
        published += await publishNext(publishing, applying)
      } catch (error) {
        logger.warn({ err: error, import_id: applying.id }, 'could not publish the batches of an import, trying again')
        await noteFailure(publishing.db, { workspaceId: applying.workspace_id, ...applying }, error)
      }
    }
    return published
  }
  const run = async () => {
    while (!stopping.signal.aborted) {
      const published = await publishOnce().catch((error: unknown) => {
        logger.warn({ err: error }, 'could not publish batches of imports, trying again')
        return 0
      })
      if (published === 0) await signal.wait(EVERY_MS)
    }
  }
  return {
    name: 'batches',
    wake: signal.wake,
    async start() {
      ended = run()
    },
    async stop() {
      stopping.abort()
      signal.wake()
      await ended
    },
  }
}
