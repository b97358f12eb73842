import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { noteFailure } from '@backoffice/runtime/worker-failures.ts'
import type { FileStorage } from './file-storage.ts'

/** Whose files are discarded. */
export interface Discarding {
  readonly storage: Pick<FileStorage, 'remove'>
  readonly logger: Logger
}

const NAME = 'files without a row'
/** The pauses before further attempts, in milliseconds. */
const AGAIN_AFTER_MS = [1_000, 60_000, 600_000]

/**
 * Removes files that no row names. Does not throw: what fails is logged and counted, and tried again while the process
 * runs. Files that stay after all do no harm but take room, and the log names them.
 */
export async function discardFiles(
  { storage, logger }: Discarding,
  paths: readonly string[],
  [againAfterMs, ...later] = AGAIN_AFTER_MS,
): Promise<void> {
  try {
    await storage.remove(paths)
  } catch (cause) {
    const error = new Error(`cannot remove ${paths.join(' and ')}`, { cause })
    if (againAfterMs === undefined) return noteFailure(logger, NAME, error, {}, 'the files stay')
    noteFailure(logger, NAME, error)
    void pause(againAfterMs, undefined, { ref: false }).then(() => discardFiles({ storage, logger }, paths, later))
  }
}
