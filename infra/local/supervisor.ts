import { setTimeout as delay } from 'node:timers/promises'
import type { Part } from './part.ts'

/** Keeps the processes of a stack running, and stops them. */
export interface Supervisor {
  add(name: string, part: Part): void
  /** To be called when a process ended by itself: it is started again after one second. */
  revive(name: string, how: string): Promise<void>
  /** Process ids by name. */
  pids(): Record<string, number>
  /** Stops what runs, one group after the other; nothing is revived any more. */
  stop(groups: readonly (readonly string[])[]): Promise<void>
}

interface SupervisorOptions {
  /** Tells the person at the terminal. */
  print(line: string): void
  /** Called when process ids have changed. */
  onChange(): void
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000

/** As Kubernetes would: a process that ended is started again, after longer waits when it does not come up. */
export function createSupervisor({ print, onChange }: SupervisorOptions): Supervisor {
  const parts = new Map<string, Part>()
  let isStopping = false

  const startAgain = async (name: string) => {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      await delay(wait)
      if (isStopping) return
      try {
        await parts.get(name)?.start()
        return
      } catch (error) {
        if (!isStopping) print(`${error instanceof Error ? error.message : error}; trying again`)
      }
    }
  }

  return {
    add(name, part) {
      parts.set(name, part)
      onChange()
    },
    async revive(name, how) {
      if (isStopping) return
      print(`${name} ended (${how}); it is started again in a second`)
      await startAgain(name)
      if (isStopping) return
      print(`${name} is back (process ${parts.get(name)?.pid})`)
      onChange()
    },
    pids: () => Object.fromEntries([...parts].flatMap(([name, { pid }]) => (pid === undefined ? [] : [[name, pid]]))),
    async stop(groups) {
      isStopping = true
      for (const group of groups) await Promise.all(group.map((name) => parts.get(name)?.stop()))
    },
  }
}
