import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { noteFailure } from '../imports/note-failure.ts'
import { importsWithRoom, type Publishing, publishNext } from './publish-batches.ts'

const EVERY_MS = 1000

/**
 * Publishes the batches of started imports as their earlier ones are answered. Every replica does, since an import's row says which
 * batch is next. Call `wake` after an import was started or a batch answered.
 */
export function applyImports(publishing: Publishing, logger: Logger) {
  return worker({
    name: 'batches',
    everyMs: EVERY_MS,
    logger,
    async work() {
      let published = 0
      for (const applying of await importsWithRoom(publishing.worker)) {
        try {
          published += await publishNext(publishing, applying)
        } catch (error) {
          logger.warn(
            { err: error, import_id: applying.id },
            'could not publish the batches of an import, trying again',
          )
          await noteFailure(publishing.db, { workspaceId: applying.workspace_id, ...applying }, error)
        }
      }
      return published > 0 ? 0 : EVERY_MS
    },
  })
}
