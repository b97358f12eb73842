import type { Component } from './component.ts'
import type { Logger } from './logger.ts'
import { inRun } from './spans.ts'
import type { Tasks } from './tasks.ts'
import { restingSignal } from './wake-signal.ts'
import { failuresOf, noteFailure } from './worker-failures.ts'

/** The longest rest after a run with a failure, in milliseconds: of fewer the alert `WorkFailing` would not hear. */
const AGAIN_WITHIN_MS = 60_000

interface WorkerDefinition {
  /** Names the component, and the worker in the log. */
  readonly name: string
  /**
   * The pause after a run that has found nothing, in milliseconds; longer while the process rests, and a minute at most
   * after a run with a failure.
   */
  readonly everyMs: number
  readonly logger: Logger
  /**
   * Run when the process starts and again after each pause; checks the signal if it takes long. Errors are noted, and
   * the work is run again. Returns the pause in milliseconds when there is more to do, and nothing otherwise.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most work returns nothing
  readonly work: (stopping: AbortSignal) => Promise<number | void>
  /** What `work` begins and does not wait for. The end of a task wakes the worker, and the stop waits for all. */
  readonly tasks?: Tasks<unknown>
}

/** `wake` ends a pause. */
export type RunningWorker = Required<Pick<Component, 'name' | 'start' | 'stop' | 'rouse'>> & { wake(): void }

/** Runs `work` again and again until the process stops; the stop waits for the current run. */
export function worker(definition: WorkerDefinition): RunningWorker {
  const { name, everyMs, logger, work, tasks } = definition
  const stopping = new AbortController()
  const signal = restingSignal()
  let ended: Promise<void> | undefined
  tasks?.onEnd(() => {
    // A task that has ended may leave something that is due soon, also in a process that handles nothing else.
    signal.rouse()
    signal.wake()
  })
  const run = async () => {
    while (!stopping.signal.aborted) {
      const before = failuresOf(name)
      const pauseMs = await inRun(name, () => work(stopping.signal)).catch((error: unknown) => {
        noteFailure(logger, name, error)
      })
      const restMs = failuresOf(name) > before ? Math.min(everyMs, AGAIN_WITHIN_MS) : everyMs
      await (pauseMs === undefined ? signal.rest(restMs) : signal.wait(pauseMs))
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
      await tasks?.ended()
    },
  }
}

/** The work of a worker that repeats `batch` until one has fewer than `size` items, or the process stops. */
export const inBatches = (size: number, batch: () => Promise<number>) => async (stopping: AbortSignal) => {
  while ((await batch()) === size && !stopping.aborted);
}
