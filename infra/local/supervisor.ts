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
/** A process that ran for so long is started again without a wait. */
const STEADY_AFTER_MS = 10_000

/** As Kubernetes does: starts a process that ended at once, then after growing waits while it does not come up. */
export function createSupervisor({ print, onChange }: SupervisorOptions) {
  const processes = new Map<string, ManagedProcess>()
  const readyAt = new Map<string, number>()
  let isStopping = false

  const startAgain = async (name: string, firstWait: number) => {
    for (let wait = firstWait; ; wait = Math.min(Math.max(wait * 2, FIRST_WAIT_MS), LONGEST_WAIT_MS)) {
      if (wait > 0) await delay(wait)
      if (isStopping) return
      try {
        await processes.get(name)?.start()
        readyAt.set(name, performance.now())
        return
      } catch (error) {
        if (!isStopping) print(`${error instanceof Error ? error.message : error}; trying again`)
      }
    }
  }

  return {
    add(name: string, managed: ManagedProcess) {
      processes.set(name, managed)
      readyAt.set(name, performance.now())
      onChange()
    },
    /** To be called when a process ended by itself: starts it again, after a second when it had not run for long. */
    async restart(name: string, how: string) {
      if (isStopping) return
      const isSteady = performance.now() - (readyAt.get(name) ?? 0) > STEADY_AFTER_MS
      print(`${name} ended (${how}); it is started again ${isSteady ? 'now' : 'in a second'}`)
      await startAgain(name, isSteady ? 0 : FIRST_WAIT_MS)
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
