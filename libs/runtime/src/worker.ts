import type { Component } from './component.ts'
import type { Logger } from './logger.ts'
import { inRun } from './spans.ts'
import { restingSignal } from './wake-signal.ts'

interface WorkerDefinition {
  /** Names the component, and the worker in the log. */
  readonly name: string
  /** The pause after a run that has found nothing, in milliseconds; longer while the process rests. */
  readonly everyMs: number
  readonly logger: Logger
  /**
   * Run when the process starts and again after each pause; checks the signal if it takes long. Errors are logged, and
   * the work is run again. Returns the pause in milliseconds when there is more to do, and nothing otherwise.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most work returns nothing
  readonly work: (stopping: AbortSignal) => Promise<number | void>
}

/** Runs `work` again and again until the process stops; the stop waits for the current run. `wake` ends a pause. */
export function worker({ name, everyMs, logger, work }: WorkerDefinition): Component & { wake(): void; rouse(): void } {
  const stopping = new AbortController()
  const signal = restingSignal()
  let ended: Promise<void> | undefined
  const run = async () => {
    while (!stopping.signal.aborted) {
      const pauseMs = await inRun(name, () => work(stopping.signal)).catch((error: unknown) => {
        logger.warn({ err: error, worker: name }, 'a worker failed; it goes on')
      })
      await (pauseMs === undefined ? signal.rest(everyMs) : signal.wait(pauseMs))
    }
  }
  return {
    name,
    wake: signal.wake,
    rouse: signal.rouse,
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

/** The work of a worker that repeats `batch` until one has fewer than `size` items, or the process stops. */
export const inBatches = (size: number, batch: () => Promise<number>) => async (stopping: AbortSignal) => {
  while ((await batch()) === size && !stopping.aborted);
}
