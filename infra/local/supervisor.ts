import { setTimeout as delay } from 'node:timers/promises'
import type { ManagedProcess } from '@backoffice/testing/processes/managed-process.ts'

/** Keeps the processes of a stack running, and stops them. */
export type Supervisor = ReturnType<typeof createSupervisor>

interface SupervisorOptions {
  /** Shows a line to the user at the terminal. */
  print(line: string): void
  /** Called when process ids have changed. */
  onChange(): void
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000

/** As Kubernetes does: starts a process that ended again, after growing waits while it does not come up. */
export function createSupervisor({ print, onChange }: SupervisorOptions) {
  const processes = new Map<string, ManagedProcess>()
  let isStopping = false

  const startAgain = async (name: string) => {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      await delay(wait)
      if (isStopping) return
      try {
        await processes.get(name)?.start()
        return
      } catch (error) {
        if (!isStopping) print(`${error instanceof Error ? error.message : error}; trying again`)
      }
    }
  }

  return {
    add(name: string, managed: ManagedProcess) {
      processes.set(name, managed)
      onChange()
    },
    /** To be called when a process ended by itself: it is started again after one second. */
    async restart(name: string, how: string) {
      if (isStopping) return
      print(`${name} ended (${how}); it is started again in a second`)
      await startAgain(name)
      if (isStopping) return
      print(`${name} is back (process ${processes.get(name)?.pid})`)
      onChange()
    },
    /** Process ids by name. */
    pids: (): Record<string, number> =>
      Object.fromEntries([...processes].flatMap(([name, { pid }]) => (pid === undefined ? [] : [[name, pid]]))),
    /** Stops the processes, one group after the other; none is started again after that. */
    async stop(groups: readonly (readonly string[])[]) {
      isStopping = true
      for (const group of groups) await Promise.all(group.map((name) => processes.get(name)?.stop()))
    },
  }
}
