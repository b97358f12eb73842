import type { Logger } from './logger.ts'
import { pauseUnless } from './pause.ts'
import type { Part } from './process.ts'

export interface WorkerDefinition {
  /** What the worker is about, as its part's name and in the log line of a failure. */
  readonly name: string
  /** How long it rests after each piece of work, in milliseconds. */
  readonly everyMs: number
  readonly logger: Logger
  /**
   * A piece of work, done as soon as the process starts and again after each rest; it looks at the signal if it takes long. One
   * that fails is logged and done again. May return another rest than `everyMs`, in milliseconds.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most work has nothing to say
  readonly work: (stopping: AbortSignal) => Promise<number | void>
}

/** Does a piece of work again and again until the process stops, which waits for the one that is under way. */
export function worker({ name, everyMs, logger, work }: WorkerDefinition): Part {
  const stopping = new AbortController()
  let ended: Promise<void> | undefined
  const run = async () => {
    while (!stopping.signal.aborted) {
      const rest = await work(stopping.signal).catch((error: unknown) => {
        logger.warn({ err: error, worker: name }, 'a worker failed; it goes on')
      })
      await pauseUnless(stopping.signal, rest ?? everyMs)
    }
  }
  return {
    name,
    async start() {
      ended = run()
    },
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
