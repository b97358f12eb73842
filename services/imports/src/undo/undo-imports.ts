import { wakeSignal } from '@backoffice/messaging/wake-signal.ts'
import type { Component } from '@backoffice/runtime/process.ts'
import { claimUndos } from './claim-undos.ts'
import { takeStep, type Undoing } from './take-step.ts'

const EVERY_MS = 1000

/**
 * Asks the owners of templates to undo imports, step by step and workspaces in turn. A process that dies loses nothing: its claim ends,
 * and the owner knows how far it is. Call `wake` after an undo was requested; `onDone` is called after each that ends.
 */
export function undoImports(undoing: Undoing, onDone: () => void): Component & { wake(): void } {
  const stopping = new AbortController()
  const signal = wakeSignal()
  let ended: Promise<void> | undefined

  const run = async () => {
    while (!stopping.signal.aborted) {
      const claimed = await claimUndos(undoing).catch((error: unknown) => {
        undoing.logger.warn({ err: error }, 'could not look for imports to undo, trying again')
        return []
      })
      for (const undo of claimed) if (await takeStep(undoing, undo, stopping.signal)) onDone()
      if (claimed.length === 0) await signal.wait(EVERY_MS)
    }
  }
  return {
    name: 'undos',
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
