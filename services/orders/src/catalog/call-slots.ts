/** How many calls run and wait at a time. */
export interface SlotLimits {
  readonly running: number
  /** Of one workspace, so that its slow calls do not hold every slot. */
  readonly runningPerWorkspace: number
  readonly waitingPerWorkspace: number
  /** The longest wait for a slot, in milliseconds. */
  readonly waitMs: number
}

interface Waiting {
  readonly start: () => void
}

/**
 * Runs at most so many calls at a time. Others wait; a free slot goes to the workspaces in a round robin. A call that waits too long, or
 * that finds too many of its workspace waiting, is not run and fails with the error of `refuse`.
 */
export function callSlots(limits: SlotLimits, refuse: () => Error) {
  const runningOf = new Map<string, number>()
  /** The waiting calls of each workspace. The first workspace is the next to get a slot. */
  const queues = new Map<string, Waiting[]>()
  let running = 0

  const hasRoom = (workspace: string) =>
    running < limits.running && (runningOf.get(workspace) ?? 0) < limits.runningPerWorkspace

  function occupy(workspace: string): void {
    running++
    runningOf.set(workspace, (runningOf.get(workspace) ?? 0) + 1)
  }

  function remove(workspace: string, waiting: Waiting): void {
    const others = (queues.get(workspace) ?? []).filter((other) => other !== waiting)
    if (others.length > 0) queues.set(workspace, others)
    else queues.delete(workspace)
  }

  async function acquire(workspace: string): Promise<void> {
    const queue = queues.get(workspace) ?? []
    if (queue.length === 0 && hasRoom(workspace)) return occupy(workspace)
    if (queue.length >= limits.waitingPerWorkspace) throw refuse()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { start: resolve }
    queues.set(workspace, [...queue, waiting])
    const timer = setTimeout(() => {
      remove(workspace, waiting)
      reject(refuse())
    }, limits.waitMs)
    await promise.finally(() => clearTimeout(timer))
  }

  function release(workspace: string): void {
    running--
    const left = (runningOf.get(workspace) ?? 1) - 1
    if (left === 0) runningOf.delete(workspace)
    else runningOf.set(workspace, left)
    startNext()
  }

  /** Gives the slot that is free to the first workspace that may have it, which then goes to the end. */
  function startNext(): void {
    for (const [workspace, [first, ...others]] of queues) {
      if (!first || !hasRoom(workspace)) continue
      queues.delete(workspace)
      if (others.length > 0) queues.set(workspace, others)
      occupy(workspace)
      first.start()
      return
    }
  }

  return async <Result>(workspace: string, call: () => Promise<Result>): Promise<Result> => {
    await acquire(workspace)
    try {
      return await call()
    } finally {
      release(workspace)
    }
  }
}
