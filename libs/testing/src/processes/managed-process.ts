import { setTimeout as delay } from 'node:timers/promises'
import { type Child, type Command, startChild, watchForStandstill } from './child.ts'
import { StackError } from './stack-error.ts'

/** Called with the work under way and how far it is. */
export type Progress = (text: string) => void

/** A process of the local stack that can be stopped, killed and started again on the same port and data. */
export type ManagedProcess = Awaited<ReturnType<typeof startManagedProcess>>

/** The options of a program that runs as a managed process. */
export interface ProgramOptions {
  /** Keeps the program's data over restarts. */
  readonly directory: string
  readonly onProgress?: Progress | undefined
  /** Called when it ended by itself. */
  readonly onDeath?: (how: string) => void
}

interface ManagedProcessDefinition {
  readonly command: Command
  /** Called before each start. */
  prepare?(): Promise<void>
  isReady(): Promise<boolean>
  /** Says why it is not ready, for the error when it stands still. */
  whyNot?(): Promise<string>
  /** Called when it ended without being asked to, after it was ready. */
  onDeath?: ((how: string) => void) | undefined
}

const POLL_MS = 50
/** A process that accepts a connection and does not answer is asked again. */
const ANSWERS_WITHIN_MS = 5_000

/**
 * Starts a process and waits until it answers, however slow the machine is: as long as the process prints or computes,
 * for ten minutes at most. Throws StackError when it ends first or stands still for `standstillMs`.
 */
export async function startManagedProcess(definition: ManagedProcessDefinition, standstillMs = 60_000) {
  let running: Child | undefined
  const end = async (how: 'stop' | 'kill') => {
    const child = running
    running = undefined
    await child?.[how]()
  }
  const managed = {
    /** Process id of the running process; undefined while it is down. */
    get pid() {
      return running?.pid
    },
    /** Starts it when it is down; resolves once it answers. */
    async start() {
      if (running) return
      await definition.prepare?.()
      const child = await startChild(definition.command)
      running = child
      await untilReady(definition, child, standstillMs).catch(async (error) => {
        await end('kill')
        throw error
      })
      void child.exited.then((how) => {
        if (running !== child) return
        running = undefined
        definition.onDeath?.(how)
      })
    },
    /** Sends it a signal; does nothing when it is down. */
    signal: (name: NodeJS.Signals) => void running?.signal(name),
    /** Stops it in good order; does nothing when it is down. */
    stop: () => end('stop'),
    /** kill -9; does nothing when it is down. */
    kill: () => end('kill'),
  }
  await managed.start()
  return managed
}

async function untilReady(
  { command: { name }, isReady, whyNot }: ManagedProcessDefinition,
  child: Child,
  standstillMs: number,
): Promise<void> {
  let [ended, stuck]: (string | undefined)[] = []
  void child.exited.then((how) => {
    ended = how
  })
  const watch = watchForStandstill(child, standstillMs)
  void watch.stoodStill.then((words) => {
    stuck = words
  })
  try {
    while (!(await Promise.race([isReady(), delay(ANSWERS_WITHIN_MS, false, { ref: false })]))) {
      if (ended) throw new StackError(`${name} did not start (${ended}): ${child.lastWords()}`)
      if (stuck) {
        const reasons = [child.lastWords(), child.waitsFor(), await whyNot?.()].filter((reason) => reason)
        throw new StackError(`${name} does not answer, ${stuck}: ${reasons.join('; ')}`)
      }
      await delay(POLL_MS)
    }
  } finally {
    watch.end()
  }
}
