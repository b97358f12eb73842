/** Calls `work`, one run at a time. Calls during a run lead to one more run after it. Errors of `work` are ignored. */
export function coalesceCalls(work: () => Promise<unknown>): () => void {
  let isRunning = false
  let isRequested = false
  const run = async () => {
    isRunning = true
    while (isRequested) {
      isRequested = false
      await work().catch(() => undefined)
    }
    isRunning = false
  }
  return () => {
    isRequested = true
    if (!isRunning) void run()
  }
}
