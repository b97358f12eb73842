import { setTimeout as delay } from 'node:timers/promises'
import type { Child } from './child.ts'
import { StackError } from './stack-error.ts'

/** Told what is being done and how far it is. */
export type Progress = (text: string) => void

/** A process of the local stack that can be stopped, killed and started again on the same port and data. */
export interface Part {
  /** Process id of the running process; undefined while it is down. */
  readonly pid: number | undefined
  /** Starts it when it is down; resolves once it answers. */
  start(): Promise<void>
  /** Stops it in good order; does nothing when it is down. */
  stop(): Promise<void>
  /** kill -9; does nothing when it is down. */
  kill(): Promise<void>
}

interface PartDefinition {
  readonly name: string
  launch(): Promise<Child>
  isReady(): Promise<boolean>
  /** What its log says when it ended before it was ready. */
  explain(): string
  /** Called when it ended without being asked to, after it was ready. */
  onDeath?: ((how: string) => void) | undefined
}

const READY_WITHIN_MS = 60_000
const POLL_MS = 50

/** Starts a part and waits until it answers. Throws StackError when it ends first or does not answer within 60 s. */
export async function startPart(definition: PartDefinition): Promise<Part> {
  let running: Child | undefined
  const end = async (how: 'stop' | 'kill') => {
    const child = running
    running = undefined
    await child?.[how]()
  }
  const part: Part = {
    get pid() {
      return running?.pid
    },
    async start() {
      if (running) return
      const child = await definition.launch()
      running = child
      await untilReady(definition, child).catch(async (error) => {
        await end('kill')
        throw error
      })
      void child.exited.then((how) => {
        if (running !== child) return
        running = undefined
        definition.onDeath?.(how)
      })
    },
    stop: () => end('stop'),
    kill: () => end('kill'),
  }
  await part.start()
  return part
}

async function untilReady(definition: PartDefinition, child: Child): Promise<void> {
  let ended: string | undefined
  void child.exited.then((how) => {
    ended = how
  })
  const deadline = Date.now() + READY_WITHIN_MS
  while (!(await definition.isReady())) {
    if (ended) throw new StackError(`${definition.name} did not start (${ended}): ${definition.explain()}`)
    if (Date.now() > deadline) {
      throw new StackError(`${definition.name} does not answer after 60 s: ${definition.explain()}`)
    }
    await delay(POLL_MS)
  }
}
