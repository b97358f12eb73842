import { worker } from '@backoffice/runtime/worker.ts'
import { claimUndos } from './claim-undos.ts'
import { takeStep, type Undoing } from './take-step.ts'

const EVERY_MS = 1000

/**
 * Asks the owners of templates to undo imports, step by step and workspaces in turn. A process that dies loses nothing: its claim ends,
 * and the owner knows how far it is. Call `wake` after an undo was requested; `onDone` is called after each that ends.
 */
export function undoImports(undoing: Undoing, onDone: () => void) {
  return worker({
    name: 'undos',
    everyMs: EVERY_MS,
    logger: undoing.logger,
    async work(stopping) {
      const claimed = await claimUndos(undoing)
      for (const undo of claimed) if (await takeStep(undoing, undo, stopping)) onDone()
      return claimed.length > 0 ? 0 : EVERY_MS
    },
  })
}
